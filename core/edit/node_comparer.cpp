#include "core/edit/node_comparer.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <unordered_map>

#include "core/graph/size_text.h"
#include "core/graph/symbolic_float.h"

namespace jointer {
namespace {

// --- Parts of a tensor that the canonical text does not show ---

std::string stride_text(const Graph& graph, const Tensor& t) {
  return t.has(Tensor::has_stride) ? sizes_text(graph, graph.stride(t)) : "unknown";
}

std::string offset_text(const Graph& graph, const Tensor& t) {
  return t.has(Tensor::has_offset) ? size_text(graph, graph.offset(t)) : "unknown";
}

std::string_view device_name(const Graph& graph, const Tensor& t) {
  return t.device ? graph.text(graph.device(t.device).name) : std::string_view();
}

std::string device_text(const Graph& graph, const Tensor& t) {
  return t.device ? std::string(device_name(graph, t)) : "unknown";
}

std::string storage_text(const Graph&, const Tensor& t) {
  return t.has(Tensor::has_storage) ? "known" : "unknown";
}

template <Tensor::Flag known, Tensor::Flag flag>
std::string flag_text(const Graph&, const Tensor& t) {
  if (!t.has(known)) return "unknown";
  return t.has(flag) ? "True" : "False";
}

struct TensorPart {
  const char* name;
  std::string (*text)(const Graph&, const Tensor&);
};

constexpr std::array<TensorPart, 7> kParts{{
    {"stride", stride_text},
    {"offset", offset_text},
    {"device", device_text},
    {"requires_grad", flag_text<Tensor::has_requires_grad, Tensor::requires_grad>},
    {"conj", flag_text<Tensor::has_conj, Tensor::conj>},
    {"neg", flag_text<Tensor::has_neg, Tensor::neg>},
    {"storage", storage_text},
}};

// Float symbols are compared like size symbols: by expression, not by hint.
template <class T>
bool same_raw(const Graph& a, const T& x, const Graph& b, const T& y) {
  const auto left = symbolic_float(a, x), right = symbolic_float(b, y);
  return left && right ? left->expression == right->expression
                       : a.text(x.text()) == b.text(y.text());
}

std::string constant_text(const Graph& graph, const Value& value) {
  return value.kind == Value::Kind::constant ? std::string(graph.text(value.text())) : "None";
}

}  // namespace

// --- Nodes ---

bool NodeComparer::same_node(NodeId a, NodeId b) const {
  return match_ != nullptr ? match_->in_before(b) == a : a_.name(a) == b_.name(b);
}

bool NodeComparer::same_target(NodeId a, NodeId b) const {
  if (match_ != nullptr && a_.node(a).kind == NodeKind::placeholder)
    return b_.node(b).kind == NodeKind::placeholder;
  return a_.target(a_.node(a)) == b_.target(b_.node(b));
}

bool NodeComparer::same_args(NodeId a, NodeId b) const {
  return same(a_.node(a).args, b_.node(b).args);
}

bool NodeComparer::same_kwargs(NodeId a, NodeId b) const {
  const auto x = a_.children(a_.node(a).kwargs), y = b_.children(b_.node(b).kwargs);
  if (x.size() != y.size()) return false;
  for (std::size_t i = 0; i + 1 < x.size(); i += 2) {
    bool found = false;
    for (std::size_t j = 0; j + 1 < y.size(); j += 2)
      found = found || (same(x[i], y[j]) && same(x[i + 1], y[j + 1]));
    if (!found) return false;
  }
  return true;
}

std::optional<NodeComparer::Inputs> NodeComparer::exchanged_inputs(NodeId a, NodeId b) const {
  Pairs pairs;
  if (!same(a_.node(a).args, b_.node(b).args, &pairs)) return std::nullopt;
  const auto x = a_.children(a_.node(a).kwargs), y = b_.children(b_.node(b).kwargs);
  if (x.size() != y.size()) return std::nullopt;
  for (std::size_t i = 0; i + 1 < x.size(); i += 2) {
    std::size_t j = 0;
    while (j + 1 < y.size() && !same(x[i], y[j])) j += 2;
    if (j + 1 >= y.size() || !same(x[i + 1], y[j + 1], &pairs)) return std::nullopt;
  }
  std::optional<Inputs> inputs(std::in_place);
  std::unordered_map<std::string_view, std::string_view> now;
  for (const auto& [was, is] : pairs) {
    const auto [known, is_new] = now.emplace(was, is);
    if (known->second != is) return std::nullopt;
    if (is_new && was != is) inputs->emplace_back(was, is);
  }
  return inputs;
}

bool NodeComparer::same_value(NodeId a, NodeId b) const {
  return same(a_.node(a).value, b_.node(b).value);
}

std::vector<DetailDifference> NodeComparer::detail_differences(NodeId a, NodeId b) const {
  std::vector<DetailDifference> found;
  const NodeKind was = a_.node(a).kind, is = b_.node(b).kind;
  if (was != is) found.push_back({"node", std::string(kind_text(was)), std::string(kind_text(is))});
  add_differences(a_.node(a).value, b_.node(b).value, {}, found);
  return found;
}

// --- Arguments and values ---

bool NodeComparer::same(const Argument& x, const Argument& y, Pairs* inputs) const {
  using Kind = Argument::Kind;
  if (x.kind != y.kind) return false;
  switch (x.kind) {
    case Kind::none:
      return true;
    case Kind::boolean:
    case Kind::integer:
      return x.integer == y.integer;
    case Kind::real:
      // 0.0 and -0.0 differ; all NaNs are equal.
      return std::bit_cast<std::uint64_t>(x.real) == std::bit_cast<std::uint64_t>(y.real) ||
             (x.real != x.real && y.real != y.real);
    case Kind::node:
      if (inputs == nullptr) return same_node(x.node(), y.node());
      inputs->emplace_back(a_.name(x.node()), b_.name(y.node()));
      return true;
    case Kind::symbol:
      return a_.expression_text(x.expression()) == b_.expression_text(y.expression());
    case Kind::raw:
      return same_raw(a_, x, b_, y);
    case Kind::opaque:
    case Kind::string:
    case Kind::dtype:
    case Kind::device:
    case Kind::layout:
    case Kind::memory_format:
    case Kind::op:
      return a_.text(x.text()) == b_.text(y.text());
    case Kind::list:
    case Kind::tuple:
    case Kind::dict:
    case Kind::slice:
    case Kind::complex:
      break;
  }
  const auto left = a_.children(x), right = b_.children(y);
  return std::ranges::equal(
      left, right, [&](const Argument& l, const Argument& r) { return same(l, r, inputs); });
}

bool NodeComparer::same(const Value& x, const Value& y) const {
  using Kind = Value::Kind;
  if (x.kind != y.kind) return false;
  switch (x.kind) {
    case Kind::none:
      return true;
    case Kind::tensor:
      return same(a_.tensor(x.tensor()), b_.tensor(y.tensor()));
    case Kind::symbol:
      return a_.expression_text(x.expression()) == b_.expression_text(y.expression());
    case Kind::raw:
      return same_raw(a_, x, b_, y);
    case Kind::key:
    case Kind::constant:
    case Kind::opaque:
      return a_.text(x.text()) == b_.text(y.text());
    case Kind::list:
    case Kind::dict:
      break;
  }
  const auto left = a_.children(x), right = b_.children(y);
  return std::ranges::equal(left, right,
                            [&](const Value& l, const Value& r) { return same(l, r); });
}

bool NodeComparer::same(const Tensor& x, const Tensor& y) const {
  if (x.dtype != y.dtype || x.rank != y.rank) return false;
  if ((x.flags | Tensor::has_offset) != (y.flags | Tensor::has_offset)) return false;
  const bool knows_both = x.has(Tensor::has_offset) && y.has(Tensor::has_offset);
  return same(a_.shape(x), b_.shape(y)) && same(a_.stride(x), b_.stride(y)) &&
         (!knows_both || same(a_.offset(x), b_.offset(y))) &&
         device_name(a_, x) == device_name(b_, y);
}

bool NodeComparer::same(std::span<const Dim> x, std::span<const Dim> y) const {
  return std::ranges::equal(x, y, [&](const Dim& l, const Dim& r) { return same(l, r); });
}

bool NodeComparer::same(const Dim& x, const Dim& y) const {
  if (static_cast<bool>(x.expression) != static_cast<bool>(y.expression)) return false;
  return x.expression ? a_.expression_text(x.expression) == b_.expression_text(y.expression)
                      : x.value == y.value;
}

// --- Differences ---

// Appends differences that the canonical texts do not show; `place` prefixes each name.
void NodeComparer::add_differences(const Value& x, const Value& y, const std::string& place,
                                   std::vector<DetailDifference>& found) const {
  using Kind = Value::Kind;
  if (same(x, y)) return;
  const auto is_constant = [](const Value& v) {
    return v.kind == Kind::constant || v.kind == Kind::none;
  };
  if (is_constant(x) && is_constant(y)) {
    found.push_back({place + "constant", constant_text(a_, x), constant_text(b_, y)});
    return;
  }
  if (x.kind != y.kind) return;
  if (x.kind == Kind::tensor) {
    const Tensor &was = a_.tensor(x.tensor()), &is = b_.tensor(y.tensor());
    const bool knows_both = was.has(Tensor::has_offset) && is.has(Tensor::has_offset);
    for (const TensorPart& part : kParts) {
      if (part.text == offset_text && !knows_both) continue;
      std::string before = part.text(a_, was), after = part.text(b_, is);
      if (before != after)
        found.push_back({place + part.name, std::move(before), std::move(after)});
    }
    return;
  }
  if (x.kind != Kind::list && x.kind != Kind::dict) return;
  const auto left = a_.children(x), right = b_.children(y);
  const std::size_t step = x.kind == Kind::dict ? 2 : 1;  // in a dict, each value follows its key
  for (std::size_t i = step - 1; i < std::min(left.size(), right.size()); i += step)
    add_differences(left[i], right[i], fmt::format("{}result {}: ", place, i / step), found);
}

}  // namespace jointer
