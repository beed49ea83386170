// Estimates the duration of a collective: a start-up time that grows with the number of steps, plus
// the time of its bytes over the slower of two links.
//
// Terms
//   S      bytes: the whole gathered output of an all-gather, the whole input of a reduce-scatter,
//          the tensor of an all-reduce or a broadcast, or what one rank sends in an all-to-all.
//   n, m   number of ranks, and of nodes that they span; r is the number of ranks on the node with
//          the fewest.
//   B, b   bytes per second of one device inside its node, and through its share of the network
//          (peak times efficiency, from the device description).
//
// Model
//   inside a node   each rank moves S (n-1)/n over NVLink or similar: S (n-1)/n / B
//   between nodes   each node moves S (m-1)/m through the r network cards of its ranks in the
//                   group: S (m-1)/m / (r b). In an all-to-all, each rank instead sends
//                   S (n-r)/n through its card, and S (r-1)/n inside its node.
//                   A broadcast moves all of S instead of the shares (n-1)/n and (m-1)/m, since
//                   every rank passes on the whole tensor.
//   If each node has one rank, nothing moves inside a node.
//   The two overlap, so the larger counts. An all-reduce is a reduce-scatter followed by an
//   all-gather, so it counts twice. The start-up time is a base plus n-1 steps around the ring, of
//   which m-1 cross the network; an all-reduce has twice as many steps.
//
// Cost: linear in the group's ranks if they ascend; else n log n. Source: the usual alpha-beta
// model of ring algorithms; NCCL's step latencies (nccl/src/graph/tuning.cc). Deviation from torch
// 2.11 (torch_nccl.cpp): torch assumes NCCL's LL protocol, two channels and all of the group's
// traffic through one card, which makes large collectives between nodes several times too slow.

#include "core/cost/collective_model.h"

#include <algorithm>
#include <limits>
#include <span>
#include <vector>

#include "core/base/checked.h"
#include "core/graph/argument_nodes.h"
#include "core/graph/group_argument.h"

namespace jointer {
namespace {

// Places n ranks, `stride` apart and beginning with rank 0.
GroupPlacement place_evenly(std::int64_t n, std::int64_t stride, std::int64_t per_node) {
  if (n < 2) return {.ranks = n, .nodes = 1, .ranks_per_node = n};
  if (stride >= per_node) return {.ranks = n, .nodes = n, .ranks_per_node = 1};
  GroupPlacement placement{.ranks = n, .nodes = saturating_mul(n - 1, stride) / per_node + 1};
  // The index of the first rank on a node.
  const auto first_on = [=](std::int64_t node) {
    return saturating_add(saturating_mul(node, per_node), stride - 1) / stride;
  };
  placement.ranks_per_node = n - first_on(placement.nodes - 1);
  // The numbers of ranks on full nodes repeat after `stride` nodes.
  for (std::int64_t node = 0; node + 1 < placement.nodes && node < stride; ++node)
    placement.ranks_per_node =
        std::min(placement.ranks_per_node, first_on(node + 1) - first_on(node));
  return placement;
}

}  // namespace

GroupPlacement place_group(const Graph& graph, const Node& collective, std::int64_t gpus_per_node) {
  const std::int64_t size = estimated_group_size(graph, collective);
  const std::int64_t per_node = std::max<std::int64_t>(gpus_per_node, 1);
  if (!collective.group) return place_evenly(size, 1, per_node);
  const ProcessGroup& group = graph.group(collective.group);
  const auto& ranks = group.ranks;
  const std::int64_t stride = rank_stride(graph, group);
  if (ranks.empty()) return place_evenly(size, stride, per_node);
  // Sorted ranks, so that the ranks of each node are adjacent. Usually they are sorted already.
  const auto node_of = [=](std::int32_t rank) { return rank * stride / per_node; };
  std::vector<std::int32_t> sorted;
  std::span<const std::int32_t> in_order(ranks);
  if (!std::is_sorted(ranks.begin(), ranks.end())) {
    sorted = ranks;
    std::sort(sorted.begin(), sorted.end());
    in_order = sorted;
  }
  std::int64_t nodes = 0, here = 0, fewest = std::numeric_limits<std::int64_t>::max();
  for (std::size_t i = 0; i < in_order.size(); ++i) {
    ++here;
    if (i + 1 < in_order.size() && node_of(in_order[i + 1]) == node_of(in_order[i])) continue;
    ++nodes;
    fewest = std::min(fewest, here);
    here = 0;
  }
  return {.ranks = size, .nodes = nodes, .ranks_per_node = fewest};
}

std::int64_t input_bytes(const Graph& graph, const Node& call) {
  std::int64_t sum = 0;
  for (const NodeId input : graph.inputs(call))
    sum = saturating_add(sum, graph.output_bytes(graph.node(input)));
  return sum;
}

std::int64_t collective_input_bytes(const Graph& graph, const Node& collective) {
  std::vector<NodeId> buffers;
  if (const Argument* out = graph.argument(collective, "out")) append_nodes(graph, *out, buffers);
  std::int64_t sum = 0;
  for (const NodeId input : graph.inputs(collective))
    if (std::find(buffers.begin(), buffers.end(), input) == buffers.end())
      sum = saturating_add(sum, graph.output_bytes(graph.node(input)));
  return sum;
}

std::int64_t collective_bytes(const Graph& graph, const Node& collective) {
  return std::max(collective_input_bytes(graph, collective), graph.output_bytes(collective));
}

double collective_ms(CollectiveKind kind, std::int64_t bytes, const GroupPlacement& placement,
                     const DeviceDescription& device) {
  if (placement.ranks <= 1) return 0;
  const auto n = static_cast<double>(placement.ranks);
  const auto m = static_cast<double>(placement.nodes);
  const auto r = static_cast<double>(std::max<std::int64_t>(placement.ranks_per_node, 1));
  const auto size = static_cast<double>(bytes);
  const DeviceDescription::Links& links = device.links;
  const double inside = links.intra_gbps * links.intra_efficiency * 1e6;  // bytes per millisecond
  const double between = links.inter_gbps * links.inter_efficiency * 1e6;

  const bool moves_all = kind == CollectiveKind::broadcast;
  double intra_ms = size * (moves_all ? 1 : (n - 1) / n) / inside;
  double inter_ms = m > 1 ? size * (moves_all ? 1 : (m - 1) / m) / (r * between) : 0;
  if (kind == CollectiveKind::all_to_all) {
    intra_ms = size * (r - 1) / n / inside;
    inter_ms = m > 1 ? size * (n - r) / n / between : 0;
  }
  if (placement.nodes >= placement.ranks) intra_ms = 0;
  const double rounds = kind == CollectiveKind::all_reduce ? 2 : 1;
  const double crossing = m > 1 ? m - 1 : 0;
  const double latency_us = links.base_us + rounds * ((n - 1 - crossing) * links.intra_step_us +
                                                      crossing * links.inter_step_us);
  return latency_us / 1e3 + rounds * std::max(intra_ms, inter_ms);
}

}  // namespace jointer
