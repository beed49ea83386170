#include "core/cost/torch_estimator.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/checked.h"
#include "core/cost/node_flops.h"
#include "core/cost/torch_nccl.h"

namespace jointer {
namespace {

// Views and creations, for which torch estimates nothing.
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

}  // namespace

std::string TorchEstimator::description() const {
  return fmt::format("torch 2.11's formulas, {}", device_.name);
}

std::int64_t TorchEstimator::latency_ns(const Graph& graph, NodeId collective) const {
  const Node& node = graph.node(collective);
  const auto ms =
      torch_nccl_ms(0, graph.group_size(node), graph.op(node).collective, device_.torch_nccl);
  return saturating_round(ms.value_or(0) * 1e6);
}

NodeCost TorchEstimator::estimate(const Graph& graph, NodeId id) const {
  const Node& node = graph.node(id);
  if (node.kind != NodeKind::call || node.tensor_count == 0) return {};
  const OperatorInfo& op = graph.op(node);
  if (op.is_wait || op.is_getitem) return {};
  NodeCost cost{.limit = NodeCost::Limit::given};
  if (graph.is_collective_start(node)) {
    const auto ms = torch_nccl_ms(torch_collective_bytes(graph, node), graph.group_size(node),
                                  op.collective, device_.torch_nccl);
    cost.lane = NodeCost::Lane::collective;
    cost.ns = saturating_round(ms.value_or(0) * 1e6);
    return cost;
  }
  if (graph.is_transfer(node)) return transfer_costs().of(graph.output_bytes(node));
  if (std::find(kIgnored.begin(), kIgnored.end(), op.packet()) != kIgnored.end()) return {};
  const DType type = graph.tensors(node).front().dtype;
  const double compute_ns = static_cast<double>(node_flops(graph, node).torch_registry) / 2 /
                            (0.75 * device_.peak_flops(type) * 1e3) * 1e9;
  std::int64_t bytes = counted_bytes(graph, node);
  for (const NodeId input : graph.inputs(node))
    bytes = saturating_add(bytes, counted_bytes(graph, graph.node(input)));
  const double transfer_ns = static_cast<double>(bytes) / device_.memory_gbps;
  cost.lane = NodeCost::Lane::compute;
  cost.ns = saturating_round(std::max(compute_ns, transfer_ns));
  return cost;
}

}  // namespace jointer
