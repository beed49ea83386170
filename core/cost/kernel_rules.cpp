// Estimates the time of a kernel from the numbers in the device's description.
//
// Loops
//   launch + max(bytes / (bandwidth * share) / fill, special functions / their rate)
//   share      that of each access pattern; a reduction, or a conversion to a wider type, has at
//              most its own.
//   bandwidth  that of the description's levels of cache, interpolated between their sizes. Without
//              levels, that of the memory.
//   fill       Little's law: to reach the full bandwidth, a device needs the memory's bandwidth *
//              latency bytes in flight. A kernel has at most its own bytes in flight, and at most
//              `block_bytes` for each of its blocks. So a small kernel takes launch + latency, and
//              a reduction with few rows, which Inductor therefore splits, has only a part of the
//              bandwidth.
//   sectors    memory moves in sectors of `sector_bytes`: elements that lie alone move more than
//              themselves.
//
// Matrix products
//   launch + max(waves * (2 * tile * k / (peak * share / units) + wave), memory)
//   memory     bytes / (bandwidth * share of coalesced accesses), as for loops but always filled.
//   waves      the tiles of the result divided by the multiprocessors, rounded up: the last wave
//              takes as long as a full one. The library chooses the tile with the shortest time.
//              Without tiles in the description: FLOPs / (peak * efficiency) instead.
//   wave       the start and the end of a tile, in which nothing is multiplied, in proportion to
//              the tile's area.
//
// Attention
//   launch + max(FLOPs * padding / (peak * share) * (tokens + extra) / tokens, memory)
//   share      that of the kernel (flash attention or cuDNN) for the size of a head.
//   padding    kernels exist for a few sizes of heads; smaller heads are padded.
//   extra      tokens' worth of time for start and end and, with a causal mask, for the masked
//              halves of blocks on the diagonal, which are computed too.
//
// Sources: memory coalescing, sectors and Little's law: CUDA C++ Best Practices Guide, "Coalesced
// Access to Global Memory"; V. Volkov, "Understanding Latency Hiding on GPUs" (2016). Waves and
// tiles: NVIDIA, "Matrix Multiplication Background User's Guide". Sizes of heads: flash-attention,
// csrc/flash_attn. The numbers and their sources are in resources/devices/*.json.
//
// Deviations: other kernels of attention (memory-efficient, math) count as flash attention.
// Products that split k over multiprocessors, and tiles that are shared by several of them
// (stream-K), are not modeled. A launch does not overlap with the end of the kernel before it.
// Loops of compiled kernels are tiled so that transposed accesses cost the same in either
// direction.
//
// Cost: constant, or linear in the number of tiles, levels and head sizes of the description.

#include "core/cost/kernel_rules.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace jointer {
namespace {

constexpr double kNsPerUs = 1e3, kNsPerSecond = 1e9;

// The bandwidth, in bytes per nanosecond, of a kernel that moves this many bytes.
double bandwidth(const DeviceDescription& device, double bytes) {
  const std::vector<KernelRates::Level>& levels = device.kernels->levels;
  if (levels.empty()) return device.memory_gbps;
  const auto above = std::find_if(levels.begin(), levels.end(), [&](const auto& level) {
    return static_cast<double>(level.bytes) >= bytes;
  });
  if (above == levels.begin()) return levels.front().gbps;
  if (above == levels.end()) return levels.back().gbps;
  const KernelRates::Level& below = *std::prev(above);
  const double part =
      std::log(bytes / static_cast<double>(below.bytes)) /
      std::log(static_cast<double>(above->bytes) / static_cast<double>(below.bytes));
  return std::lerp(below.gbps, above->gbps, part);
}

double peak_of_kind(const KernelRates& rates, LoopWork::Kind kind) {
  switch (kind) {
    case LoopWork::Kind::element_wise:
      return 1;
    case LoopWork::Kind::widening:
      return rates.widening;
    case LoopWork::Kind::row_reduction:
      return rates.row_reduction;
    case LoopWork::Kind::column_reduction:
      return rates.column_reduction;
  }
  return 1;
}

// The fraction of the bandwidth that the kernel reaches with its bytes in flight.
double filled(const DeviceDescription& device, const LoopWork& work, double bytes) {
  const KernelRates& rates = *device.kernels;
  double in_flight = bytes;
  if (work.blocks > 0 && rates.block_bytes > 0)
    in_flight = std::min(in_flight,
                         static_cast<double>(work.blocks) * static_cast<double>(rates.block_bytes));
  const double needed = device.memory_gbps * rates.latency_us * kNsPerUs;
  return needed > 0 ? std::min(in_flight / needed, 1.0) : 1;
}

KernelDuration duration(double launch_ns, double arithmetic_ns, double memory_ns) {
  const double longest = std::max(arithmetic_ns, memory_ns);
  return {.ns = launch_ns + longest,
          .limit = longest <= launch_ns         ? NodeCost::Limit::launch
                   : arithmetic_ns >= memory_ns ? NodeCost::Limit::compute
                                                : NodeCost::Limit::memory};
}

double memory_ns(const DeviceDescription& device, double bytes) {
  return bytes / (bandwidth(device, bytes) * device.kernels->coalesced);
}

// The time of all waves with tiles of this size.
double product_ns(const DeviceDescription& device, const ProductWork& work,
                  const KernelRates::Tile& tile, double peak) {
  const auto whole = [](std::int64_t size, std::int64_t part) {
    return std::ceil(static_cast<double>(size) / static_cast<double>(part));
  };
  const KernelRates::Tile& first = device.kernels->tiles.front();
  const auto area = [](const KernelRates::Tile& t) {
    return static_cast<double>(t.rows) * static_cast<double>(t.columns);
  };
  const auto units = static_cast<double>(device.matmul_units);
  const double tiles = static_cast<double>(work.batch) * whole(work.rows, tile.rows) *
                       whole(work.columns, tile.columns);
  const double multiplied =
      2 * area(tile) * static_cast<double>(work.k) / (peak * tile.share / units) * kNsPerSecond;
  const double wave = device.kernels->wave_us * kNsPerUs * area(tile) / area(first);
  return std::ceil(tiles / units) * (multiplied + wave);
}

}  // namespace

KernelDuration loop_time(const DeviceDescription& device, const LoopWork& work) {
  const KernelRates& rates = *device.kernels;
  const double limit = peak_of_kind(rates, work.kind);
  const std::array<double, 4> shares{rates.coalesced, rates.strided, rates.gathered,
                                     rates.scattered};
  double bytes = 0, slowed = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    bytes += work.bytes[i];
    slowed += work.bytes[i] / std::min(shares[i], limit);
  }
  double moved = 0;
  if (bytes > 0) moved = slowed / bandwidth(device, bytes) / filled(device, work, bytes);
  const double special = rates.special_gops > 0 ? work.special_functions / rates.special_gops : 0;
  return duration(rates.launch_us * kNsPerUs, special, moved);
}

KernelDuration product_time(const DeviceDescription& device, const ProductWork& work) {
  const double peak = device.peak_flops(work.dtype);
  const double flops = 2 * static_cast<double>(work.batch) * static_cast<double>(work.rows) *
                       static_cast<double>(work.columns) * static_cast<double>(work.k);
  double arithmetic = flops / (peak * device.efficiency.matmul) * kNsPerSecond;
  const std::vector<KernelRates::Tile>& tiles = device.kernels->tiles;
  if (!tiles.empty()) arithmetic = product_ns(device, work, tiles.front(), peak);
  for (const KernelRates::Tile& tile : tiles)
    arithmetic = std::min(arithmetic, product_ns(device, work, tile, peak));
  return duration(device.kernels->product_us * kNsPerUs, arithmetic, memory_ns(device, work.bytes));
}

KernelDuration attention_time(const DeviceDescription& device, const AttentionWork& work) {
  const KernelRates& rates = *device.kernels;
  const double peak = device.peak_flops(work.dtype);
  double share =
      work.is_backward ? device.efficiency.attention_backward : device.efficiency.attention_forward;
  double padding = 1;
  const std::vector<KernelRates::Attention>& sizes =
      work.is_cudnn && !rates.cudnn_attention.empty() ? rates.cudnn_attention : rates.attention;
  if (!sizes.empty()) {
    auto made = std::ranges::find_if(sizes, [&](const KernelRates::Attention& each) {
      return each.head_size >= work.head_size;
    });
    if (made == sizes.end())
      --made;
    else if (work.head_size > 0)
      padding = static_cast<double>(made->head_size) / static_cast<double>(work.head_size);
    share = work.is_backward ? made->backward : made->forward;
  }
  const auto tokens = static_cast<double>(std::max<std::int64_t>(work.tokens, 1));
  const double extra = work.is_causal ? rates.extra_causal_tokens : rates.extra_tokens;
  const double arithmetic = work.flops * padding / (peak * share) * (tokens + extra) / tokens;
  return duration(rates.product_us * kNsPerUs, arithmetic * kNsPerSecond,
                  memory_ns(device, work.bytes));
}

double sector_traffic(const DeviceDescription& device, double bytes, std::int64_t item_bytes,
                      std::int64_t stride) {
  const std::int64_t sector = device.kernels->sector_bytes;
  if (sector <= item_bytes || item_bytes <= 0) return bytes;
  const std::int64_t apart = std::min(std::max<std::int64_t>(stride, 1), sector / item_bytes);
  return bytes * static_cast<double>(apart);
}

}  // namespace jointer
