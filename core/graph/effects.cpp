#include "core/graph/effects.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "core/base/is_one_of.h"
#include "core/graph/argument_nodes.h"
#include "core/graph/memory_sources.h"

namespace jointer {
namespace {

// Higher-order operators that draw no random numbers and act on nothing outside the graph.
constexpr std::array<std::string_view, 6> kPure{
    "triton_kernel_wrapper_functional", "auto_functionalized",
    "auto_functionalized_v2",           "flex_attention",
    "flex_attention_backward",          "out_dtype"};
constexpr std::string_view kMutatingTriton = "triton_kernel_wrapper_mutation";

constexpr std::array<std::string_view, 12> kChecks{"aten._assert_scalar",
                                                   "aten._functional_assert_scalar",
                                                   "aten._assert_async",
                                                   "aten._functional_assert_async",
                                                   "aten._assert_tensor_metadata",
                                                   "aten.sym_constrain_range",
                                                   "aten.sym_constrain_range_for_size",
                                                   "aten._functional_sym_constrain_range",
                                                   "aten._functional_sym_constrain_range_for_size",
                                                   "torch.sym_constrain_range",
                                                   "torch.sym_constrain_range_for_size",
                                                   "torch._check"};

// The functions behind Python's x += y and x[i] = y, in graphs captured before they were lowered to
// ATen.
constexpr std::array<std::string_view, 14> kInPlacePython{
    "_operator.iadd",      "_operator.isub",   "_operator.imul",    "_operator.imatmul",
    "_operator.itruediv",  "_operator.imod",   "_operator.ipow",    "_operator.ilshift",
    "_operator.ifloordiv", "_operator.iand",   "_operator.irshift", "_operator.ior",
    "_operator.ixor",      "_operator.setitem"};

std::string_view without_python_call(std::string_view target) {
  constexpr std::string_view kFunction = "call_function.";
  return target.starts_with(kFunction) ? target.substr(kFunction.size()) : target;
}

// True for _operator.iadd, aten.add_.Tensor and call_method.copy_, but not for __and__.
bool is_named_in_place(const OperatorInfo& op) {
  if (is_one_of(without_python_call(op.name), kInPlacePython)) return true;
  const std::string_view packet = op.packet();
  return !op.has(OperatorTag::python) && packet.ends_with('_') && !packet.ends_with("__");
}

// Collects the arguments that the capture's schema_alias, [[index, is written], ...], marks as
// written. Used for opaque operators.
void written_by_capture(const Graph& graph, const Node& node, std::vector<NodeId>& written) {
  const std::string_view text = graph.text(node.schema_alias);
  const auto json = nlohmann::json::parse(text.begin(), text.end(), nullptr, false);
  if (!json.is_array()) return;
  const auto positional = graph.args(node);
  for (const auto& entry : json) {
    if (!entry.is_array() || entry.size() != 2 || !entry[0].is_number_unsigned() ||
        !entry[1].is_boolean() || !entry[1].get<bool>())
      continue;
    // Only a schema could tell which keyword argument has this index, so it may be any.
    if (const auto index = entry[0].get<std::size_t>(); index < positional.size())
      append_nodes(graph, positional[index], written);
    else
      append_nodes(graph, node.kwargs, written);
  }
}

// True if the call writes to memory that no value in the graph describes. Any other node may use
// that memory.
bool writes_to_unknown(const Graph& graph, const Node& node, const OperatorInfo& op) {
  const auto lacks = [&](NodeId id) { return lacks_value(graph, id); };
  if (std::ranges::none_of(graph.inputs(node), lacks) || !may_write(op)) return false;
  std::vector<NodeId> written, sources;
  written_arguments(graph, node, written);
  return std::ranges::any_of(
      written, [&](NodeId to) { return lacks(to) && !append_memory_sources(graph, to, sources); });
}

bool returns_nothing(const OperatorInfo& op, const Node& node) {
  return op.has_schema ? op.returns.empty() : node.value.kind == Value::Kind::none;
}

}  // namespace

Effects effects_of(const Graph& graph, const Node& node) {
  if (node.kind != NodeKind::call) return {};
  const OperatorInfo& op = graph.op(node);
  const std::string_view packet = op.packet();
  if (is_one_of(packet, kChecks)) return {Effects::checks};
  // These calls affect the calls that come after them in the program.
  if (op.space() == "streams" || packet == "aten.set_grad_enabled") return {Effects::separates};
  if (writes_to_unknown(graph, node, op)) return {Effects::separates};

  unsigned flags = 0;
  if (op.has(OperatorTag::random) || packet.find("rng_state") != std::string_view::npos)
    flags |= Effects::draws;
  else if (packet == "aten.manual_seed")
    flags |= Effects::draws | Effects::acts;
  // The subgraph that the operator calls may have any effect.
  else if (op.has(OperatorTag::higher_order) && packet != kMutatingTriton &&
           !is_one_of(packet, kPure))
    flags |= Effects::draws | Effects::acts;
  else if (returns_nothing(op, node) && !op.mutates && packet != kMutatingTriton &&
           !is_named_in_place(op))
    flags |= Effects::acts;
  return {static_cast<std::uint8_t>(flags)};
}

bool may_write(const OperatorInfo& op) {
  return op.mutates || op.is_opaque() || op.packet() == kMutatingTriton || is_named_in_place(op);
}

void written_arguments(const Graph& graph, const Node& node, std::vector<NodeId>& written) {
  if (node.kind != NodeKind::call) return;
  const OperatorInfo& op = graph.op(node);
  if (op.mutates) {
    for (const SchemaArgument& argument : op.arguments)
      if (argument.writes)
        if (const Argument* given = graph.argument(node, argument.name))
          append_nodes(graph, *given, written);
  } else if (op.packet() == kMutatingTriton) {
    append_nodes(graph, node.args, written);
    append_nodes(graph, node.kwargs, written);
  } else if (is_named_in_place(op)) {
    // The schema omits the write (inductor.resize_storage_bytes_), or there is no schema.
    if (const auto args = graph.args(node); !args.empty())
      append_nodes(graph, args.front(), written);
  } else if (op.is_opaque() && node.schema_alias) {
    written_by_capture(graph, node, written);
  }
}

}  // namespace jointer
