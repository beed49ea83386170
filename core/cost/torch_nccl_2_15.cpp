// Estimates the time of a collective as torch 2.15 does: the minimum of latency + bytes / bandwidth
// over all pairs of an algorithm (tree, ring) and a protocol (LL, LL128, SIMPLE).
// - Bandwidth: the links' bus bandwidth, limited by the protocol and its channels, times the
//   algorithm's share (ring: ranks / steps; tree: half, corrected by message size).
// - Latency: a start-up time, plus a hop for each step, inside a node or between nodes.
// - Between nodes, the bandwidth is the network's: a smaller share of its peak for few nodes, which
//   use few network cards, and, between more than two nodes, a larger one for large messages.
//
// Terms: a step is one hop of data; `scale` is 0 for one node, 1 for two, and 2 for more.
// Source: torch/_inductor/comm_analysis.py. Deviations: all GPUs of a node are linked by NVLink
// (torch asks nvidia-smi), and a node has `gpus_per_node` of them (torch asks CUDA).

#include "core/cost/torch_nccl_2_15.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "core/base/byte_units.h"
#include "core/base/checked.h"
#include "core/base/name_table.h"

namespace jointer {
namespace {

enum Algorithm : std::uint8_t { tree, ring };
enum Protocol : std::uint8_t { ll, ll128, simple };

template <std::size_t Columns>
using ByGpu = std::array<std::array<double, Columns>, 4>;  // volta, ampere, hopper, blackwell

// Microseconds, by algorithm and protocol.
using Latencies = std::array<std::array<double, 3>, 2>;
constexpr Latencies kStart{{{6.8, 14.0, 8.4}, {6.6, 14.0, 8.4}}};
constexpr Latencies kNvlinkHop{{{0.6, 1.25, 4.0}, {0.6, 1.9, 3.4}}};
constexpr Latencies kNetworkHop{{{5.0, 8.5, 14.0}, {2.7, 4.0, 14.0}}};

// GB/s, by GPU and scale.
constexpr ByGpu<3> kMaxLL{
    {{39.0, 39.0, 20.4}, {87.7, 22.5, 19.0}, {141.0, 45.0, 35.0}, {282.0, 90.0, 70.0}}};
constexpr ByGpu<3> kRingLL128Channel{
    {{20.0, 20.0, 20.0}, {20.0, 20.0, 20.0}, {36.7, 36.7, 36.7}, {40.0, 40.0, 40.0}}};
constexpr ByGpu<3> kTreeLL128Channel{
    {{20.0, 20.0, 20.0}, {20.0, 20.0, 20.0}, {36.7, 36.7, 29.0}, {55.6, 31.67, 20.0}}};
constexpr ByGpu<3> kTreeChannel{
    {{26.5, 18.5, 10.0}, {24.0, 23.6, 17.8}, {38.7, 41.4, 36.0}, {70.0, 42.8, 24.0}}};

// By GPU: the number of channels, and GB/s.
constexpr std::array<double, 4> kChannelCounts{2, 8, 16, 32};
constexpr std::array<double, 4> kInsideNode{120, 240, 370, 720};
constexpr std::array<double, 4> kBetweenNodes{12, 25, 50, 50};

// The fraction of its bandwidth that a tree reaches, by protocol and by log2 of the message size in
// units of 64 bytes.
constexpr std::array<std::array<double, 24>, 3> kTreeShare{{
    {1.0, 1.0, 1.0, 1.0, 0.9, 0.8, 0.7, 0.7, 0.7, 0.7, 0.6, 0.5,
     0.4, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.0, 1.0, 1.0, 1.0},
    {1.0, 1.0, 1.0, 1.0, 1.0, 0.9, 0.8, 0.8, 0.8, 0.7, 0.6, 0.6,
     0.6, 0.6, 0.6, 0.6, 0.8, 0.9, 0.9, 0.9, 0.9, 1.0, 1.0, 1.0},
    {0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.8, 0.7, 0.6, 0.6, 0.5,
     0.5, 0.5, 0.5, 0.6, 0.7, 0.8, 0.7, 0.7, 0.8, 0.9, 0.9, 0.9},
}};

struct Group {
  std::int64_t ranks = 0, nodes = 0;
  std::size_t gpu = 0, scale = 0;
};

Group group_of(std::int64_t ranks, const NcclLinks& links) {
  const std::int64_t nodes = (ranks + links.gpus_per_node - 1) / links.gpus_per_node;
  return {.ranks = ranks,
          .nodes = nodes,
          .gpu = static_cast<std::size_t>(links.gpu),
          .scale = static_cast<std::size_t>(std::min<std::int64_t>(nodes, 3) - 1)};
}

std::int64_t steps_of(NcclCall call, std::int64_t ranks) {
  switch (call) {
    case NcclCall::all_reduce:
    case NcclCall::all_to_all:
      return 2 * (ranks - 1);
    case NcclCall::all_gather:
    case NcclCall::reduce_scatter:
      return ranks - 1;
    case NcclCall::p2p:
      break;
  }
  return 1;
}

// GB/s of the slowest link.
double link_bandwidth(const Group& group, std::int64_t bytes) {
  if (group.nodes == 1) return kInsideNode[group.gpu];
  // Two nodes use few of the network cards; eight use all of them.
  const double share = std::min(1.0, static_cast<double>(group.nodes - 1) / 7);
  double gbps = kBetweenNodes[group.gpu] * (0.77 + 0.23 * share);
  constexpr std::int64_t kOneCard = 50'000'000;
  if (group.nodes > 2)
    gbps *= std::pow(static_cast<double>(std::max(bytes, kOneCard)) / kOneCard, 0.17);
  return gbps;
}

// Returns the part of a link's bandwidth that a protocol can use, in GB/s.
double bus_bandwidth(const Group& group, Algorithm algorithm, Protocol protocol, NcclCall call,
                     double gbps) {
  const double channels = kChannelCounts[group.gpu];
  // Between nodes, the CPU limits LL, so the first row applies to every GPU.
  const double max_ll = kMaxLL[group.nodes == 1 ? group.gpu : 0][group.scale];
  const bool is_ring = algorithm == ring;
  switch (protocol) {
    case ll:
      return std::min(max_ll, gbps * (is_ring ? 0.5 : 1.0 / 3.8));
    case ll128: {
      const auto& channel = is_ring ? kRingLL128Channel : kTreeLL128Channel;
      const double payload = is_ring || group.nodes > 1 ? 120.0 / 128.0 : 7.0 / 9.0;
      return std::min(gbps * payload, channels * channel[group.gpu][group.scale]);
    }
    case simple:
      break;
  }
  if (is_ring || call != NcclCall::all_reduce) return gbps;
  return std::min(gbps * 0.92, channels * kTreeChannel[group.gpu][group.scale]);
}

double latency_us(const Group& group, Algorithm algorithm, Protocol protocol, NcclCall call) {
  const double overhead = group.nodes == 1 ? 0.0 : protocol == simple ? 3.0 : 1.0;
  const double inside = std::max(kNvlinkHop[algorithm][protocol], overhead);
  const double between = kNetworkHop[algorithm][protocol];
  const bool reduces_all = call == NcclCall::all_reduce;
  double us = kStart[algorithm][protocol];
  if (algorithm == ring) {
    const std::int64_t network = (group.nodes - 1) * (reduces_all ? 2 : 1);
    return us + static_cast<double>(steps_of(call, group.ranks) - network) * inside +
           static_cast<double>(network) * between;
  }
  const auto depth = std::bit_width(static_cast<std::uint64_t>(group.nodes)) - 1;
  return us + 2 * (static_cast<double>(group.ranks / group.nodes - 1) * inside +
                   static_cast<double>(depth) * between);
}

// The time in microseconds; nullopt if torch excludes this combination of algorithm and protocol.
std::optional<double> time_us(const Group& group, std::int64_t bytes, NcclCall call,
                              Algorithm algorithm, Protocol protocol) {
  if (algorithm == tree && call != NcclCall::all_reduce) return std::nullopt;
  if (protocol == ll128 && group.nodes > 1) return std::nullopt;
  const double bus = bus_bandwidth(group, algorithm, protocol, call, link_bandwidth(group, bytes));
  double gbps = bus * 0.5;
  if (algorithm == ring)
    gbps =
        bus * static_cast<double>(group.ranks) / static_cast<double>(steps_of(call, group.ranks));
  if (algorithm == tree) {
    const auto packets = static_cast<std::uint64_t>(bytes) >> 6;
    const auto power = static_cast<std::size_t>(packets == 0 ? 0 : std::bit_width(packets) - 1);
    if (power < kTreeShare[protocol].size()) gbps *= kTreeShare[protocol][power];
  }
  return latency_us(group, algorithm, protocol, call) + static_cast<double>(bytes) / (1000 * gbps);
}

// torch's calibrated link profiles: GB/s, microseconds per step, start-up microseconds, and the
// minimum result of torch_saturation_bytes.
struct Profile {
  double gbps, step_us, start_us;
  std::int64_t min_bytes = 0;
};
constexpr std::array<Profile, 4> kNvlinkProfiles{
    {{14, 50, 10}, {22, 45, 10}, {36, 40, 10}, {60, 30, 10}}};
constexpr Profile kHdr{11, 14, 30, 75 * kMiB}, kNdr{22, 12, 30, 100 * kMiB};

}  // namespace

std::optional<NcclCall> torch_nccl_call(std::string_view target) {
  static constexpr NameTable<NcclCall, 8> kWords{{
      {"all_reduce", NcclCall::all_reduce},
      {"all_gather", NcclCall::all_gather},
      {"reduce_scatter", NcclCall::reduce_scatter},
      {"all_to_all", NcclCall::all_to_all},
      {"alltoall", NcclCall::all_to_all},
      {"isend", NcclCall::p2p},
      {"irecv", NcclCall::p2p},
      {"batch_p2p", NcclCall::p2p},
  }};
  for (const auto& [word, call] : kWords)
    if (target.find(word) != std::string_view::npos) return call;
  return std::nullopt;
}

std::int64_t torch_collective_bytes_2_15(const Graph& graph, const Node& node) {
  if (node.tensor_count == 0) return 0;
  std::int64_t output = 0;
  for (const Tensor& t : graph.tensors(node)) output = saturating_add(output, graph.bytes(t));
  const auto input = torch_input_bytes(graph, node);
  return input ? saturating_add(*input, output) : 0;
}

double torch_nccl_2_15_ms(std::int64_t bytes, std::int64_t group_size, NcclCall call,
                          const NcclLinks& links) {
  if (group_size <= 1) return 0;
  const Group group = group_of(group_size, links);
  double best = std::numeric_limits<double>::infinity();
  for (const Algorithm algorithm : {tree, ring})
    for (const Protocol protocol : {ll, ll128, simple})
      if (const auto us = time_us(group, bytes, call, algorithm, protocol))
        best = std::min(best, *us);
  return best / 1000;
}

std::optional<std::int64_t> torch_saturation_bytes(std::int64_t group_size, NcclCall call,
                                                   const NcclLinks& links) {
  if (call == NcclCall::all_to_all || call == NcclCall::p2p) return std::nullopt;
  if (group_size <= 1) return 0;
  const Group group = group_of(group_size, links);
  const bool is_new = links.gpu == NcclGpu::hopper || links.gpu == NcclGpu::blackwell;
  const Profile& profile = group.nodes == 1 ? kNvlinkProfiles[group.gpu] : is_new ? kNdr : kHdr;
  constexpr double kEfficiency = 0.9;
  const double steps = static_cast<double>(steps_of(call, group_size));
  const double seconds = (profile.start_us + steps * profile.step_us) * 1e-6;
  const double bytes = kEfficiency / (1.0 - kEfficiency) * seconds * (profile.gbps * 1e9);
  return std::max(static_cast<std::int64_t>(bytes), profile.min_bytes);
}

}  // namespace jointer
