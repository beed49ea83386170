// Estimates the time of a node from its FLOPs and bytes.
//
// Terms
//   FLOPs     node_flops: the operator's formula. Causal attention computes about half of the
//             square that the formula counts, so only half of it is used.
//   bytes     node_traffic: the bytes that the kernel must move.
//   tiles     a matrix product is split into tiles of 128 x 128 outputs, one per multiprocessor at
//             a time. The last round of tiles is seldom full, which makes small products slow.
//
// Time of a kernel: max(FLOPs / (peak * efficiency * fill), bytes / (bandwidth * efficiency),
// kernel_us), where fill is tiles / (rounds * multiprocessors), or 1 for attention and higher-order
// operators. Host time: operator_us for every call, plus launch_us for a kernel or a copy, or
// collective_us for a collective. A matmul fused with a collective has collective_us, and launch_us
// for each of its parts.
//
// Cost: linear in a node's inputs and outputs; for a collective, also in its group's ranks. Source:
// the roofline model; efficiencies and their sources are in resources/devices/*.json.

#include "core/cost/roofline.h"

#include <algorithm>
#include <cmath>

#include "core/base/checked.h"
#include "core/base/counted.h"
#include "core/cost/collective_model.h"
#include "core/cost/fused_matmul.h"
#include "core/cost/node_flops.h"
#include "core/cost/traffic.h"

namespace jointer {
namespace {

constexpr double kTile = 128;

std::int64_t to_ns(double microseconds) {
  // Limits a duration to one year, so that a sum of several fits in 64 bits.
  constexpr double kMax = 365.0 * 24 * 3600 * 1e6;
  return saturating_round(std::min(microseconds, kMax) * 1e3);
}

bool is_attention(std::string_view packet) {
  return packet.find("attention") != std::string_view::npos;
}

// Returns the argument `name` of the operator that a higher-order operator runs. The arguments of
// the higher-order operator (graphsafe_run_with_rng_state and similar) are that operator, followed
// by the operator's own arguments.
const Argument* wrapped_argument(const Graph& graph, const Node& node, std::string_view name) {
  const auto args = graph.args(node);
  const auto inner = std::find_if(args.begin(), args.end(),
                                  [](const Argument& a) { return a.kind == Argument::Kind::op; });
  if (inner == args.end()) return nullptr;
  const int index = describe_operator(graph.text(inner->text())).argument_index(name);
  if (index < 0 || args.end() - inner <= index + 1) return nullptr;
  return &inner[index + 1];
}

bool is_causal(const Graph& graph, const Node& node) {
  const Argument* causal = graph.op(node).has(OperatorTag::higher_order)
                               ? wrapped_argument(graph, node, "is_causal")
                               : graph.argument(node, "is_causal");
  return causal != nullptr && causal->kind == Argument::Kind::boolean && causal->integer != 0;
}

// The fraction of multiprocessors that this number of tiles keeps busy, averaged over the rounds.
double fill(double tiles, std::int64_t units) {
  const auto width = static_cast<double>(units);
  return tiles / (std::ceil(tiles / width) * width);
}

// The same fraction for an output of shape [..., m, n].
double fill(const Graph& graph, const Node& node, std::int64_t units) {
  const Tensor* out = graph.single_tensor(node);
  if (out == nullptr || out->rank < 2) return 1;
  const auto shape = graph.shape(*out);
  double tiles = 1;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const auto size = static_cast<double>(std::max<std::int64_t>(shape[i].value, 1));
    tiles *= i + 2 < shape.size() ? size : std::ceil(size / kTile);
  }
  return fill(tiles, units);
}

// Returns the time of all products of one of the `ranks` parts, in microseconds.
double part_us(const FusedMatmul& fused, const DeviceDescription& device) {
  const auto item = static_cast<double>(item_size(fused.dtype));
  double sum = 0;
  for (const FusedMatmul::Product& product : fused.products) {
    const double rows = static_cast<double>(product.rows) / static_cast<double>(fused.ranks);
    const auto k = static_cast<double>(product.k), columns = static_cast<double>(product.columns);
    const double tiles =
        std::max(std::ceil(rows / kTile), 1.0) * std::max(std::ceil(columns / kTile), 1.0);
    const double compute = 2 * rows * k * columns /
                           (device.peak_flops(fused.dtype) * device.efficiency.matmul *
                            fill(tiles, device.matmul_units)) *
                           1e6;
    const double memory = (rows * k + k * columns + rows * columns) * item /
                          (device.memory_gbps * device.efficiency.memory * 1e3);
    sum += std::max({compute, memory, device.kernel_us});
  }
  return sum;
}

NodeCost fused_cost(const Graph& graph, const Node& node, const FusedMatmul& fused,
                    const DeviceDescription& device, std::int64_t gpus_per_node) {
  const auto ranks = static_cast<double>(fused.ranks);
  const double products = part_us(fused, device) * ranks;
  const double collective = collective_ms(fused.collective, fused.moved_bytes,
                                          place_fused(graph, node, fused, gpus_per_node), device) *
                            1e3;
  double us = pipelined_time(products, collective, fused.ranks);
  if (fused.collective == CollectiveKind::reduce_scatter)
    us += static_cast<double>(fused.moved_bytes) * (1 + 1 / std::max(ranks, 1.0)) /
          (device.memory_gbps * device.efficiency.memory * 1e3);
  const bool waits = fused.ranks > 1 && collective / (ranks - 1) > products / ranks;
  return {
      .lane = NodeCost::Lane::compute,
      .limit = waits ? NodeCost::Limit::network : NodeCost::Limit::compute,
      .ns = to_ns(us),
      .host_ns = to_ns(device.host.operator_us +
                       ranks * static_cast<double>(fused.products.size()) * device.host.launch_us +
                       device.host.collective_us)};
}

}  // namespace

double computed_flops(const Graph& graph, const Node& call, std::int64_t flops) {
  const bool is_half =
      is_attention(graph.op(call).packet()) || graph.op(call).has(OperatorTag::higher_order);
  return static_cast<double>(flops) / (is_half && is_causal(graph, call) ? 2 : 1);
}

DType arithmetic_type(const Graph& graph, const Node& call) {
  const auto tensors = graph.tensors(call);
  return tensors.empty() ? DType::float32 : tensors.front().dtype;
}

std::string RooflineEstimator::description() const {
  if (device_.id == "cpu") return fmt::format("roofline, {}", device_.name);
  return fmt::format("roofline, {}, {} per node", device_.name,
                     counted(static_cast<std::size_t>(gpus_per_node_), "GPU"));
}

double RooflineEstimator::compute_us(const Graph& graph, const Node& node,
                                     std::int64_t flops) const {
  if (flops == 0) return 0;
  const std::string_view packet = graph.op(node).packet();
  const double work = computed_flops(graph, node, flops);
  double efficiency = device_.efficiency.matmul;
  if (is_attention(packet) || graph.op(node).has(OperatorTag::higher_order)) {
    const bool backward = packet.find("backward") != std::string_view::npos;
    efficiency =
        backward ? device_.efficiency.attention_backward : device_.efficiency.attention_forward;
  } else {
    efficiency *= fill(graph, node, device_.matmul_units);
  }
  return work / (device_.peak_flops(arithmetic_type(graph, node)) * efficiency) * 1e6;
}

TransferCosts RooflineEstimator::transfer_costs() const {
  TransferCosts costs = Estimator::transfer_costs();
  costs.host_ns = to_ns(device_.host.operator_us + device_.host.launch_us);
  costs.wait_host_ns = to_ns(device_.host.operator_us);
  return costs;
}

std::int64_t RooflineEstimator::latency_ns(const Graph& graph, NodeId collective) const {
  const Node& node = graph.node(collective);
  return to_ns(collective_ms(graph.op(node).collective, 0, place_group(graph, node, gpus_per_node_),
                             device_) *
               1e3);
}

NodeCost RooflineEstimator::estimate(const Graph& graph, NodeId id) const {
  const Node& node = graph.node(id);
  if (node.kind != NodeKind::call) return {};
  NodeCost cost{.host_ns = to_ns(device_.host.operator_us)};
  if (graph.is_collective_start(node)) {
    const GroupPlacement placement = place_group(graph, node, gpus_per_node_);
    const std::int64_t bytes = collective_bytes(graph, node);
    const CollectiveKind kind = graph.op(node).collective;
    const double ms = collective_ms(kind, bytes, placement, device_);
    const double latency_ms = collective_ms(kind, 0, placement, device_);
    cost.lane = NodeCost::Lane::collective;
    cost.limit = latency_ms * 2 > ms ? NodeCost::Limit::latency : NodeCost::Limit::network;
    cost.ns = to_ns(ms * 1e3);
    cost.host_ns += to_ns(device_.host.collective_us);
    return cost;
  }

  if (graph.is_transfer(node)) return transfer_costs().of(graph.output_bytes(node));
  if (const auto fused = read_fused_matmul(graph, node))
    return fused_cost(graph, node, *fused, device_, gpus_per_node_);

  const Traffic traffic = node_traffic(graph, node);
  switch (traffic.kind) {
    case Traffic::Kind::none:
    case Traffic::Kind::host:  // a few bytes on the CPU: the call dominates
      return cost;
    case Traffic::Kind::transfer:
      cost.lane = NodeCost::Lane::compute;
      cost.limit = NodeCost::Limit::transfer;
      cost.blocks_host = traffic.blocks_host;
      cost.ns = to_ns(std::max(static_cast<double>(traffic.bytes) / (device_.host_gbps * 1e3),
                               device_.kernel_us));
      cost.host_ns += to_ns(device_.host.launch_us);
      return cost;
    case Traffic::Kind::kernel:
      break;
  }
  const double arithmetic = compute_us(graph, node, node_flops(graph, node).total);
  const double memory =
      static_cast<double>(traffic.bytes) / (device_.memory_gbps * device_.efficiency.memory * 1e3);
  const double longest = std::max({arithmetic, memory, device_.kernel_us});
  cost.lane = NodeCost::Lane::compute;
  cost.limit = longest <= device_.kernel_us ? NodeCost::Limit::launch
               : arithmetic >= memory       ? NodeCost::Limit::compute
                                            : NodeCost::Limit::memory;
  cost.ns = to_ns(longest);
  cost.host_ns += to_ns(device_.host.launch_us);
  return cost;
}

}  // namespace jointer
