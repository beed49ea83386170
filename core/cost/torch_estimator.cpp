#include "core/cost/torch_estimator.h"

#include <algorithm>
#include <array>

#include "core/base/checked.h"
#include "core/base/counted.h"
#include "core/cost/fused_matmul.h"
#include "core/cost/node_flops.h"
#include "core/cost/torch_nccl.h"
#include "core/cost/torch_nccl_2_15.h"
#include "core/graph/group_argument.h"
#include "core/ops/flops.h"

namespace jointer {
namespace {

// Views and factory functions, for which torch estimates 0.
constexpr std::array<std::string_view, 40> kIgnored{"aten.lift_fresh",   "aten.t",
                                                    "aten.transpose",    "aten.view",
                                                    "aten.detach",       "aten._unsafe_view",
                                                    "aten.split",        "aten.adjoint",
                                                    "aten.as_strided",   "aten.diagonal",
                                                    "aten.expand",       "aten.expand_as",
                                                    "aten.movedim",      "aten.permute",
                                                    "aten.select",       "aten.squeeze",
                                                    "aten.mT",           "aten.mH",
                                                    "aten.real",         "aten.imag",
                                                    "aten.view_as",      "aten.unflatten",
                                                    "aten.unfold",       "aten.unbind",
                                                    "aten.unsqueeze",    "aten.vsplit",
                                                    "aten.hsplit",       "aten.split_with_sizes",
                                                    "aten.swapaxes",     "aten.swapdims",
                                                    "aten.chunk",        "aten.randint",
                                                    "aten.randn",        "aten.rand",
                                                    "aten.randn_like",   "aten.rand_like",
                                                    "aten.randint_like", "aten.arange",
                                                    "aten.ones_like",    "aten.zeros_like"};

std::int64_t counted_bytes(const Graph& graph, const Node& node) {
  std::int64_t sum = 0;
  for (const Tensor& t : graph.tensors(node)) {
    const auto shape = graph.shape(t), stride = graph.stride(t);
    std::int64_t elements = 1;
    for (std::size_t i = 0; i < shape.size(); ++i)
      if (stride[i].value != 0) elements = saturating_mul(elements, shape[i].value);
    sum = saturating_add(sum, saturating_mul(elements, item_size(t.dtype)));
  }
  return sum;
}

// Counts an argument every time it occurs, as torch does.
std::int64_t argument_bytes(const Graph& graph, const Argument& argument) {
  if (argument.kind == Argument::Kind::node)
    return counted_bytes(graph, graph.node(argument.node()));
  std::int64_t sum = 0;
  for (const Argument& child : graph.children(argument))
    sum = saturating_add(sum, argument_bytes(graph, child));
  return sum;
}

// Matches torch's OpOverload.is_view for the operators that fusion_regions.py queries.
bool is_view_2_15(const OperatorInfo& op) {
  bool aliases = false, writes = false;
  for (const SchemaArgument& argument : op.arguments) {
    aliases = aliases || argument.alias_set != 0;
    writes = writes || argument.writes;
  }
  return (op.space() == "aten" || op.space() == "prims") && aliases && !writes;
}

// True if torch 2.15 counts the FLOPs of the operator. Flops::total is then its count, because
// since 2.12 torch also counts attention with fewer key heads than query heads.
bool counts_flops_2_15(std::string_view packet) {
  return is_in_torch_registry(packet, TorchVersion{2, 15});
}

// torch has no formula for matmuls fused with a collective and would count only their bytes. This
// function applies torch's formulas to the matmuls and to the collective, and overlaps them part by
// part.
std::int64_t fused_ns(const FusedMatmul& fused, const DeviceDescription& device, bool is_new,
                      std::int64_t gpus_per_node) {
  double product = 0;
  for (const FusedMatmul::Product& each : fused.products) {
    const auto rows = static_cast<double>(each.rows), k = static_cast<double>(each.k),
               columns = static_cast<double>(each.columns);
    const double moved = (rows * k + k * columns + rows * columns) *
                         static_cast<double>(item_size(fused.dtype)) / device.memory_gbps;
    const double compute =
        is_new ? rows * k * columns / (0.75 * device.peak_flops(fused.dtype)) * 1e9 : 0;
    product += std::max(moved, compute);
  }
  const std::int64_t bytes =
      saturating_add(fused.moved_bytes, fused.moved_bytes / std::max<std::int64_t>(fused.ranks, 1));
  const double ms =
      is_new ? torch_nccl_2_15_ms(bytes, fused.ranks,
                                  fused.collective == CollectiveKind::all_gather
                                      ? NcclCall::all_gather
                                      : NcclCall::reduce_scatter,
                                  {.gpu = device.torch_nccl, .gpus_per_node = gpus_per_node})
             : torch_nccl_ms(bytes, fused.ranks, fused.collective, device.torch_nccl).value_or(0);
  return saturating_round(pipelined_time(product, ms * 1e6, fused.ranks));
}

}  // namespace

std::string TorchEstimator::description() const {
  return formulas_ == TorchFormulas::v2_11
             ? fmt::format("torch 2.11's formulas, {}", device_.name)
             : fmt::format("torch 2.15's formulas, {}, {} per node", device_.name,
                           counted(static_cast<std::size_t>(gpus_per_node_), "GPU"));
}

std::int64_t TorchEstimator::collective_ns(const Graph& graph, const Node& node,
                                           bool is_empty) const {
  const bool is_new = formulas_ == TorchFormulas::v2_15;
  const std::int64_t bytes = is_empty ? 0
                             : is_new ? torch_collective_bytes_2_15(graph, node)
                                      : torch_collective_bytes(graph, node);
  const std::int64_t ranks = estimated_group_size(graph, node);
  std::optional<double> ms;
  if (!is_new)
    ms = torch_nccl_ms(bytes, ranks, graph.op(node).collective, device_.torch_nccl);
  else if (const auto call = torch_nccl_call(graph.target(node)))
    ms = torch_nccl_2_15_ms(bytes, ranks, *call,
                            {.gpu = device_.torch_nccl, .gpus_per_node = gpus_per_node_});
  return saturating_round(ms.value_or(0) * 1e6);
}

std::int64_t TorchEstimator::latency_ns(const Graph& graph, NodeId collective) const {
  return collective_ns(graph, graph.node(collective), /*is_empty=*/true);
}

std::int64_t TorchEstimator::kernel_ns(const Graph& graph, const Node& node) const {
  const OperatorInfo& op = graph.op(node);
  if (std::find(kIgnored.begin(), kIgnored.end(), op.packet()) != kIgnored.end()) return 0;
  const DType type = graph.tensors(node).front().dtype;
  const double compute_ns = static_cast<double>(node_flops(graph, node).torch_registry) / 2 /
                            (0.75 * device_.peak_flops(type) * 1e3) * 1e9;
  std::int64_t bytes = counted_bytes(graph, node);
  for (const NodeId input : graph.inputs(node))
    bytes = saturating_add(bytes, counted_bytes(graph, graph.node(input)));
  return saturating_round(std::max(compute_ns, static_cast<double>(bytes) / device_.memory_gbps));
}

std::int64_t TorchEstimator::kernel_2_15_ns(const Graph& graph, const Node& node) const {
  const OperatorInfo& op = graph.op(node);
  if (is_view_2_15(op)) return 0;
  double compute_ns = 0;
  if (counts_flops_2_15(op.packet()))
    compute_ns = static_cast<double>(node_flops(graph, node).total) / 2 /
                 (0.75 * device_.peak_flops(graph.tensors(node).front().dtype)) * 1e9;
  std::int64_t bytes = counted_bytes(graph, node);
  for (const Argument& argument : graph.args(node))
    bytes = saturating_add(bytes, argument_bytes(graph, argument));
  const auto keywords = graph.children(node.kwargs);
  for (std::size_t i = 0; i + 1 < keywords.size(); i += 2)
    bytes = saturating_add(bytes, argument_bytes(graph, keywords[i + 1]));
  return saturating_round(std::max(compute_ns, static_cast<double>(bytes) / device_.memory_gbps));
}

NodeCost TorchEstimator::estimate(const Graph& graph, NodeId id) const {
  const Node& node = graph.node(id);
  if (node.kind != NodeKind::call || node.tensor_count == 0) return {};
  const OperatorInfo& op = graph.op(node);
  if (op.is_wait || op.is_getitem) return {};
  if (graph.is_collective_start(node))
    return {.lane = NodeCost::Lane::collective,
            .limit = NodeCost::Limit::given,
            .ns = collective_ns(graph, node, /*is_empty=*/false)};
  if (graph.is_transfer(node)) return transfer_costs().of(graph.output_bytes(node));
  const bool is_old = formulas_ == TorchFormulas::v2_11;
  if (const auto fused = read_fused_matmul(graph, node))
    return {.lane = NodeCost::Lane::compute,
            .limit = NodeCost::Limit::given,
            .ns = fused_ns(*fused, device_, !is_old, gpus_per_node_)};
  const std::int64_t ns = is_old ? kernel_ns(graph, node) : kernel_2_15_ns(graph, node);
  if (ns == 0) return {};
  return {.lane = NodeCost::Lane::compute, .limit = NodeCost::Limit::given, .ns = ns};
}

}  // namespace jointer
