#include "passes/symm_mem/tp_matmuls.h"

#include <algorithm>
#include <utility>

#include "core/graph/is_call_of.h"

namespace jointer {
namespace {

constexpr std::string_view kProduct = "aten.mm.default", kScaled = "aten._scaled_mm.default";
constexpr std::string_view kReshape = "aten.reshape.default";

bool is_product(const Graph& graph, NodeId id) {
  return is_call_of(graph, id, kProduct) || is_call_of(graph, id, kScaled);
}

std::span<const Dim> shape_of(const Graph& graph, NodeId id) {
  const Tensor* t = graph.single_tensor(graph.node(id));
  return t == nullptr ? std::span<const Dim>() : graph.shape(*t);
}

// True if the result has the leading dimensions of `left` and the columns of `right`.
bool gives_its_shape(const Graph& graph, NodeId left, NodeId right, NodeId result) {
  const auto a = shape_of(graph, left), b = shape_of(graph, right), c = shape_of(graph, result);
  return !a.empty() && b.size() == 2 && c.size() == a.size() && c.back() == b.back() &&
         std::equal(a.begin(), a.end() - 1, c.begin());
}

std::optional<TpMatmul> matmul(const Graph& graph, std::vector<NodeId> calls) {
  TpMatmul found;
  found.product = calls.size() == 3 ? calls[1] : calls[0];
  found.is_scaled = is_call_of(graph, found.product, kScaled);
  // A scaled matmul accepts only two-dimensional tensors.
  found.a = node_argument(graph, found.is_scaled ? found.product : calls.front(), 0);
  found.b = node_argument(graph, found.product, 1);
  found.calls = std::move(calls);
  if (!found.a || !found.b) return {};
  return found;
}

}  // namespace

NodeId node_argument(const Graph& graph, NodeId call, std::size_t at) {
  const auto args = graph.args(graph.node(call));
  return at < args.size() && args[at].kind == Argument::Kind::node ? args[at].node() : NodeId();
}

FxReaders::FxReaders(const Graph& graph, const FxProgram& program)
    : program_(program), changed_(graph.node_count(), 0) {
  for (NodeId id = program.first(); id; id = program.next(id)) touch(id);
}

void FxReaders::touch(NodeId node) {
  if (node.index() >= changed_.size()) changed_.resize(node.index() + 1, 0);
  changed_[node.index()] = ++now_;
}

std::vector<NodeId> FxReaders::of(NodeId node) const {
  std::vector<NodeId> readers = program_.users(node);
  std::ranges::sort(readers, {}, [&](NodeId id) { return changed_[id.index()]; });
  return readers;
}

std::vector<TpMatmul> find_consumers(const Graph& graph, const FxReaders& readers, NodeId node) {
  std::vector<TpMatmul> found;
  const auto add = [&](std::vector<NodeId> calls) {
    if (auto one = matmul(graph, std::move(calls))) found.push_back(std::move(*one));
  };
  for (const NodeId reader : readers.of(node)) {
    if (is_product(graph, reader)) {
      add({reader});
      continue;
    }
    if (!is_call_of(graph, reader, kReshape)) continue;
    for (const NodeId product : readers.of(reader)) {
      if (!is_product(graph, product)) continue;
      const NodeId right = node_argument(graph, product, 1);
      if (!right) continue;
      // If several reshapes read the matmul, use the first.
      for (const NodeId result : readers.of(product))
        if (is_call_of(graph, result, kReshape) && gives_its_shape(graph, node, right, result)) {
          add({reader, product, result});
          break;
        }
    }
  }
  return found;
}

std::optional<TpMatmul> find_producer(const Graph& graph, NodeId node) {
  if (is_product(graph, node)) return matmul(graph, {node});
  if (!is_call_of(graph, node, kReshape)) return {};
  const NodeId product = node_argument(graph, node, 0);
  if (!product || !is_product(graph, product)) return {};
  const NodeId first = node_argument(graph, product, 0), right = node_argument(graph, product, 1);
  if (!first || !right || !is_call_of(graph, first, kReshape)) return {};
  const NodeId left = node_argument(graph, first, 0);
  if (!left) return {};
  // A scaled fused call has the shape of the result as an argument.
  const bool is_sound = is_call_of(graph, product, kScaled)
                            ? shape_of(graph, left).size() > shape_of(graph, first).size()
                            : gives_its_shape(graph, left, right, node);
  if (!is_sound) return {};
  return matmul(graph, {first, product, node});
}

Argument scaled_argument(const Graph& graph, const TpMatmul& matmul, std::string_view name) {
  const Argument* given = graph.argument(graph.node(matmul.product), name);
  return given == nullptr ? Argument::of_none() : *given;
}

std::vector<NodeId> other_operands(const Graph& graph, const TpMatmul& matmul) {
  std::vector<NodeId> operands{matmul.b};
  if (!matmul.is_scaled) return operands;
  for (const std::string_view name : {"scale_a", "scale_b", "bias", "scale_result"})
    if (const Argument scale = scaled_argument(graph, matmul, name);
        scale.kind == Argument::Kind::node)
      operands.push_back(scale.node());
  return operands;
}

}  // namespace jointer
