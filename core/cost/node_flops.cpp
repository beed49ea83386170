#include "core/cost/node_flops.h"

#include <algorithm>

#include "core/base/checked.h"
#include "core/cost/fused_matmul.h"
#include "core/graph/torch_version.h"
#include "core/ops/flops.h"

namespace jointer {
namespace {

Sizes sizes_of(const Graph& graph, const Tensor& t) {
  Sizes sizes;
  for (const Dim& size : graph.shape(t)) sizes.push_back(size.value);
  return sizes;
}

// Returns the value of a number: a literal, a symbolic size, or a node that computes a symbolic
// size.
std::optional<std::int64_t> number_of(const Graph& graph, const Argument& a) {
  switch (a.kind) {
    case Argument::Kind::integer:
    case Argument::Kind::boolean:
      return a.integer;
    case Argument::Kind::symbol:
      return graph.expression_value(a.expression());
    case Argument::Kind::node: {
      const Value& value = graph.node(a.node()).value;
      if (value.kind == Value::Kind::symbol) return graph.expression_value(value.expression());
      return std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

OperatorCall::Argument describe(const Graph& graph, const Argument& a) {
  OperatorCall::Argument result;
  if (a.kind == Argument::Kind::node)
    if (const Tensor* t = graph.single_tensor(graph.node(a.node())))
      result.tensor = sizes_of(graph, *t);
  result.number = number_of(graph, a);
  for (const Argument& child : graph.children(a))
    if (const auto number = number_of(graph, child)) result.numbers.push_back(*number);
  return result;
}

// Describes the call with its arguments in schema order: first the positional arguments, then each
// keyword argument at its position in the schema.
OperatorCall make_call(const Graph& graph, const Node& node, const OperatorInfo& op,
                       std::span<const Argument> positional) {
  OperatorCall call{.packet = op.packet(), .arguments = {}, .outputs = {}};
  for (const Argument& a : positional) call.arguments.push_back(describe(graph, a));
  const auto keywords = graph.children(node.kwargs);
  for (std::size_t i = 0; i + 1 < keywords.size(); i += 2) {
    const int index = op.argument_index(graph.text(keywords[i].text()));
    if (index < 0) continue;
    const auto at = static_cast<std::size_t>(index);
    if (call.arguments.size() <= at) call.arguments.resize(at + 1);
    call.arguments[at] = describe(graph, keywords[i + 1]);
  }
  for (const Tensor& t : graph.tensors(node)) call.outputs.push_back(sizes_of(graph, t));
  return call;
}

}  // namespace

Flops node_flops(const Graph& graph, const Node& node) {
  if (node.kind != NodeKind::call) return {};
  const OperatorInfo& op = graph.op(node);
  const auto positional = graph.args(node);
  if (op.has(OperatorTag::higher_order)) {
    const auto inner = std::find_if(positional.begin(), positional.end(),
                                    [](const Argument& a) { return a.kind == Argument::Kind::op; });
    if (inner != positional.end()) {
      const OperatorInfo run = describe_operator(graph.text(inner->text()));
      if (!has_flop_formula(run.packet())) return {};
      const auto rest =
          positional.subspan(static_cast<std::size_t>(inner - positional.begin()) + 1);
      return {.torch_registry = 0,
              .total =
                  operator_flops(make_call(graph, node, run, rest), torch_version_of(graph)).total};
    }
  }
  if (const auto fused = read_fused_matmul(graph, node))
    return {.torch_registry = 0, .total = fused->flops};
  if (!has_flop_formula(op.packet())) return {};
  return operator_flops(make_call(graph, node, op, positional), torch_version_of(graph));
}

std::vector<Flops> flops_of(const Graph& graph) {
  std::vector<Flops> flops(graph.node_count());
  for (const NodeId id : graph.order()) flops[id.index()] = node_flops(graph, graph.node(id));
  return flops;
}

GraphFlops graph_flops(const Graph& graph) {
  return graph_flops(graph, flops_of(graph));
}

GraphFlops graph_flops(const Graph& graph, std::span<const Flops> flops) {
  GraphFlops sums;
  for (const NodeId id : graph.order()) {
    const Flops& own = flops[id.index()];
    std::int64_t& phase = graph.node(id).phase == Phase::forward ? sums.forward : sums.backward;
    phase = saturating_add(phase, own.total);
    sums.total = saturating_add(sums.total, own.total);
    sums.torch_registry = saturating_add(sums.torch_registry, own.torch_registry);
  }
  return sums;
}

}  // namespace jointer
