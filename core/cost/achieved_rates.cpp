#include "core/cost/achieved_rates.h"

#include <fmt/core.h>

#include "core/base/units.h"
#include "core/cost/collective_model.h"
#include "core/cost/gpu_properties.h"
#include "core/cost/node_flops.h"
#include "core/cost/roofline.h"
#include "core/cost/traffic.h"
#include "core/graph/group_argument.h"

namespace jointer {
namespace {

// Bytes that a rank's link carries for each byte of the message: nccl-tests, doc/PERFORMANCE.md.
double bus_factor(CollectiveKind kind, std::int64_t ranks) {
  const auto n = static_cast<double>(ranks);
  switch (kind) {
    case CollectiveKind::all_reduce:
      return 2 * (n - 1) / n;
    case CollectiveKind::all_gather:
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::all_to_all:
      return (n - 1) / n;
    case CollectiveKind::broadcast:
      return 1;
    case CollectiveKind::none:
      return 0;
  }
  return 0;
}

void add(std::string& text, const std::string& rate, double share) {
  if (!text.empty()) text += ", ";
  text += rate;
  if (share > 0) text += fmt::format(" ({} of peak)", format_percent(share));
}

std::string gbps_text(double bytes_per_second) {
  constexpr double kGiga = 1e9;
  return format_significant(bytes_per_second / kGiga) + " GB/s";
}

}  // namespace

AchievedRates achieved_rates(const Graph& graph, const Node& call, std::int64_t ns,
                             const DeviceDescription* device, std::int64_t gpus_per_node) {
  AchievedRates rates;
  if (ns <= 0 || call.kind != NodeKind::call || graph.is_wait(call)) return rates;
  constexpr double kPerSecond = 1e9, kGiga = 1e9;
  const double seconds = static_cast<double>(ns) / kPerSecond;
  if (graph.is_collective_start(call)) {
    if (!known_group_size(graph, call)) return rates;
    const GroupPlacement placement = place_group(graph, call, gpus_per_node);
    rates.bus = static_cast<double>(collective_bytes(graph, call)) *
                bus_factor(graph.op(call).collective, placement.ranks) / seconds;
    if (device != nullptr && placement.nodes == 1)
      rates.bus_share = rates.bus / (device->links.intra_gbps * kGiga);
    return rates;
  }
  rates.flops = computed_flops(graph, call, node_flops(graph, call).total) / seconds;
  const Traffic traffic = node_traffic(graph, call);
  if (traffic.kind == Traffic::Kind::kernel)
    rates.bytes = static_cast<double>(traffic.bytes) / seconds;
  if (device == nullptr) return rates;
  rates.flops_share = rates.flops / device->peak_flops(arithmetic_type(graph, call));
  rates.bytes_share = rates.bytes / (device->memory_gbps * kGiga);
  return rates;
}

std::string rates_text(const AchievedRates& rates) {
  std::string text;
  if (rates.flops > 0) add(text, format_rate(rates.flops), rates.flops_share);
  if (rates.bytes > 0) add(text, gbps_text(rates.bytes), rates.bytes_share);
  if (rates.bus > 0) add(text, gbps_text(rates.bus) + " bus bandwidth", rates.bus_share);
  return text;
}

bool describes_gpu(const DeviceDescription& device, std::string_view name) {
  if (const std::string_view id = device_id_in(name); !id.empty()) return device.id == id;
  return is_gpu_text(device.id) && device.name == described_name(name);
}

}  // namespace jointer
