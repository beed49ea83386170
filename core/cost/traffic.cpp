#include "core/cost/traffic.h"

#include <algorithm>
#include <array>
#include <set>

#include "core/base/checked.h"
#include "core/base/is_one_of.h"
#include "core/graph/argument_nodes.h"
#include "core/graph/memory_access.h"

namespace jointer {
namespace {

// Returns the bytes that the tensor occupies in memory: a dimension with stride 0 repeats one
// element.
std::int64_t touched_bytes(const Graph& graph, const Tensor& t) {
  const auto shape = graph.shape(t), stride = graph.stride(t);
  std::int64_t elements = 1;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const bool repeats = t.has(Tensor::has_stride) && stride[i].value == 0 && shape[i].value > 0;
    if (!repeats) elements = saturating_mul(elements, shape[i].value);
  }
  return saturating_mul(elements, item_size(t.dtype));
}

// True if the operator allocates memory without writing to it.
bool is_allocation(std::string_view packet) {
  static constexpr std::array<std::string_view, 5> kAllocations{
      "aten.empty", "aten.new_empty", "aten.empty_like", "aten.empty_strided",
      "aten.new_empty_strided"};
  return is_one_of(packet, kAllocations);
}

// True if the operator returns its input or a view of it unless the strides require a copy. The
// storage of its output shows whether it copied.
bool may_copy(std::string_view packet) {
  return packet == "aten.reshape" || packet == "prims.inductor_force_stride_order";
}

// True if the operator marks an argument as written but does not write its bytes.
bool changes_no_bytes(std::string_view packet) {
  static constexpr std::array<std::string_view, 3> kPackets{"aten.record_stream",
                                                            "aten.retain_grad", "aten.set_data"};
  return is_one_of(packet, kPackets);
}

// True if the call writes the argument. A fused optimizer writes its gradients only to divide them
// by `grad_scale`.
bool writes(const Graph& graph, const Node& node, const SchemaArgument& argument) {
  if (!argument.writes) return false;
  if (argument.name != "grads" || graph.op(node).argument_index("grad_scale") < 0) return true;
  const Argument* scale = graph.argument(node, "grad_scale");
  return scale != nullptr && scale->kind == Argument::Kind::node;
}

// The tensors that a call without results writes to, according to the schema of its operator.
struct WrittenTensors {
  std::vector<Tensor> tensors;
  std::int64_t unread_bytes = 0;  // of those given as `out`, which the call does not read
};

WrittenTensors tensors_written_by(const Graph& graph, const Node& node) {
  WrittenTensors result;
  const OperatorInfo& op = graph.op(node);
  if (op.has(OperatorTag::higher_order) || changes_no_bytes(op.packet())) return result;
  std::set<NodeId> seen;
  for (const SchemaArgument& argument : op.arguments) {
    const Argument* given = graph.argument(node, argument.name);
    if (given == nullptr || !writes(graph, node, argument)) continue;
    std::vector<NodeId> nodes;
    append_nodes(graph, *given, nodes);
    for (const NodeId id : nodes) {
      if (!seen.insert(id).second) continue;
      for (const Tensor& t : graph.tensors(id)) {
        result.tensors.push_back(t);
        if (argument.name == "out")
          result.unread_bytes = saturating_add(result.unread_bytes, touched_bytes(graph, t));
      }
    }
  }
  return result;
}

bool any_on(const Graph& graph, std::span<const Tensor> tensors, DeviceType device) {
  return std::any_of(tensors.begin(), tensors.end(),
                     [&](const Tensor& t) { return graph.device_type(t) == device; });
}

}  // namespace

bool is_lookup(std::string_view packet) {
  static constexpr std::array<std::string_view, 6> kLookups{
      "aten.embedding", "aten.index",         "aten.index_select",
      "aten.gather",    "aten._unsafe_index", "aten.take_along_dim"};
  return is_one_of(packet, kLookups);
}

Traffic node_traffic(const Graph& graph, const Node& node) {
  if (node.kind != NodeKind::call) return {};
  const OperatorInfo& op = graph.op(node);
  if (op.is_wait || op.is_getitem || op.has(OperatorTag::python)) return {};
  const std::string_view packet = op.packet();
  if (is_allocation(packet)) return {};
  std::span<const Tensor> outputs = graph.tensors(node);
  if (may_copy(packet) && outputs.size() == 1 && outputs.front().storage) {
    const auto holds = [&](NodeId input) { return is_in_memory_of(graph, outputs.front(), input); };
    if (std::ranges::any_of(graph.inputs(node), holds)) return {};
  } else if (op.is_view) {
    return {};
  }

  const DeviceType device = graph.main_device();
  bool any_input = false, input_on_device = false;
  std::int64_t read = 0;
  for (const NodeId input : graph.inputs(node)) {
    const auto tensors = graph.tensors(input);
    any_input = any_input || !tensors.empty();
    input_on_device = input_on_device || any_on(graph, tensors, device);
    for (const Tensor& t : tensors) read = saturating_add(read, touched_bytes(graph, t));
  }
  WrittenTensors arguments;
  if (outputs.empty()) {
    arguments = tensors_written_by(graph, node);
    outputs = arguments.tensors;
    read -= std::min(read, arguments.unread_bytes);
  }
  std::int64_t written = 0;
  for (const Tensor& t : outputs) written = saturating_add(written, touched_bytes(graph, t));

  if (outputs.empty()) {
    // The operator reads a number from a tensor, and the CPU waits for it.
    if (op.has(OperatorTag::data_dependent) && input_on_device)
      return {.kind = Traffic::Kind::transfer, .bytes = read, .blocks_host = true};
    // Assertions cost nothing. The cost of a higher-order operator that returns no tensors is
    // unknown.
    return {};
  }
  const bool output_on_device = any_on(graph, outputs, device);
  if (!output_on_device && !input_on_device)
    return {.kind = Traffic::Kind::host, .bytes = saturating_add(read, written)};
  if (any_input && output_on_device != input_on_device)
    return {.kind = Traffic::Kind::transfer,
            .bytes = std::max(written, std::int64_t{1}),
            .blocks_host = !output_on_device};

  if (is_lookup(packet)) {
    // Count only the rows of the table that are read; the indices count in full.
    std::int64_t table = 0;
    if (const auto inputs = graph.inputs(node); !inputs.empty())
      for (const Tensor& t : graph.tensors(inputs.front()))
        table = saturating_add(table, touched_bytes(graph, t));
    read = read - table + std::min(table, written);
  }
  return {.kind = Traffic::Kind::kernel, .bytes = saturating_add(read, written)};
}

}  // namespace jointer
