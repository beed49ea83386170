#include "core/cost/torch_nccl.h"

#include <algorithm>
#include <array>

#include "core/base/checked.h"

namespace jointer {
namespace {

constexpr std::int64_t kGpusPerNode = 8;
constexpr double kIntraNodeBandwidth = 300, kInterNodeBandwidth = 25;  // GB/s per channel
constexpr double kChannels = 2;
constexpr double kBaseLatency = 6.6;                           // us, ring with LL
constexpr double kNvlinkLatency = 0.6, kNetworkLatency = 2.7;  // us per step
constexpr double kNetworkOverhead = 1.0;                       // us per step between nodes
// Maximum GB/s of LL by GPU, for one, two and more nodes. Between nodes, the CPU limits LL, so the
// first row applies to every GPU.
constexpr std::array<std::array<double, 3>, 4> kMaxLLBandwidth{{
    {39.0, 39.0, 20.4},
    {87.7, 22.5, 19.0},
    {141.0, 45.0, 35.0},
    {282.0, 90.0, 70.0},
}};

}  // namespace

std::optional<double> torch_nccl_ms(std::int64_t bytes, std::int64_t group_size,
                                    CollectiveKind kind, NcclGpu gpu) {
  if (group_size <= 1) return 0.0;
  const std::int64_t nodes = (group_size + kGpusPerNode - 1) / kGpusPerNode;
  const bool reduces_all = kind == CollectiveKind::all_reduce;
  std::int64_t steps = 0, between_nodes = nodes - 1;
  switch (kind) {
    case CollectiveKind::all_reduce:
      steps = 2 * (group_size - 1);
      between_nodes = nodes > 1 ? 2 * nodes : 0;
      break;
    case CollectiveKind::all_to_all:
      steps = 2 * (group_size - 1);
      break;
    case CollectiveKind::all_gather:
    case CollectiveKind::reduce_scatter:
      steps = group_size - 1;
      break;
    default:
      return std::nullopt;
  }

  const auto row = nodes == 1 ? static_cast<std::size_t>(gpu) : 0;
  const auto column = static_cast<std::size_t>(std::min<std::int64_t>(nodes, 3) - 1);
  double bus = kChannels * (nodes == 1 ? kIntraNodeBandwidth : kInterNodeBandwidth);
  bus = std::min(kMaxLLBandwidth[row][column],
                 bus * (nodes > 1 || reduces_all ? 1.0 / 4.0 : 1.0 / 3.0));
  const double ratio = static_cast<double>(group_size) / static_cast<double>(steps);
  const double gigabytes_per_ns = bus * ratio / 1e9;

  const double step = std::max(kNvlinkLatency, nodes > 1 ? kNetworkOverhead : 0.0);
  const double latency_us = kBaseLatency + static_cast<double>(steps - between_nodes) * step +
                            static_cast<double>(between_nodes) * kNetworkLatency;
  const double gigabytes = static_cast<double>(bytes) / 1024 / 1024 / 1024;
  return (gigabytes / gigabytes_per_ns + latency_us * 1e3) / 1e6;
}

std::optional<std::int64_t> torch_input_bytes(const Graph& graph, const Node& node) {
  std::int64_t sum = 0;
  bool any = false;
  const auto add = [&](const auto& self, const Argument& argument) -> void {
    if (argument.kind == Argument::Kind::node) {
      if (const Tensor* t = graph.single_tensor(graph.node(argument.node()))) {
        sum = saturating_add(sum, graph.bytes(*t));
        any = true;
      }
      return;
    }
    for (const Argument& child : graph.children(argument)) self(self, child);
  };
  for (const Argument& argument : graph.args(node)) add(add, argument);
  const auto keywords = graph.children(node.kwargs);
  for (std::size_t i = 0; i + 1 < keywords.size(); i += 2)
    if (graph.text(keywords[i].text()) != "out") add(add, keywords[i + 1]);
  return any ? std::optional(sum) : std::nullopt;
}

std::int64_t torch_collective_bytes(const Graph& graph, const Node& node) {
  const Tensor* output = graph.single_tensor(node);
  if (output == nullptr) return 0;
  const auto input = torch_input_bytes(graph, node);
  return input ? saturating_add(*input, graph.bytes(*output)) : 0;
}

}  // namespace jointer
