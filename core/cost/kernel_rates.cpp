#include "core/cost/kernel_rates.h"

#include <algorithm>
#include <array>

namespace jointer {
namespace {

// Values near zero, as divisors, would make times infinite.
constexpr double kMinRate = 1e-9, kMaxNumber = 1e9;

bool is_share(double share) {
  return share >= kMinRate && share <= 1;
}
bool is_number(double value) {
  return value >= 0 && value <= kMaxNumber;
}
bool is_bandwidth(double gbps) {
  return gbps >= kMinRate && gbps <= kMaxNumber;
}

bool are_attention(const std::vector<KernelRates::Attention>& list) {
  std::int64_t last = 0;
  return std::ranges::all_of(list, [&](const KernelRates::Attention& each) {
    const bool ascends = each.head_size > last;
    last = each.head_size;
    return ascends && is_share(each.forward) && is_share(each.backward);
  });
}

bool are_levels(const std::vector<KernelRates::Level>& list) {
  std::int64_t last = 0;
  return std::ranges::all_of(list, [&](const KernelRates::Level& each) {
    const bool ascends = each.bytes > last;
    last = each.bytes;
    return ascends && is_bandwidth(each.gbps);
  });
}

}  // namespace

std::string problem_of(const KernelRates& rates) {
  const std::array shares{rates.coalesced, rates.strided,       rates.gathered,
                          rates.scattered, rates.row_reduction, rates.column_reduction,
                          rates.widening};
  if (!std::ranges::all_of(shares, is_share)) return "a share must be positive, at most 1";
  const std::array numbers{rates.launch_us,
                           rates.product_us,
                           rates.latency_us,
                           rates.wave_us,
                           rates.extra_tokens,
                           rates.extra_causal_tokens,
                           rates.special_gops,
                           static_cast<double>(rates.block_bytes),
                           static_cast<double>(rates.sector_bytes)};
  if (!std::ranges::all_of(numbers, is_number)) return "a number must be from 0 to 1e9";
  const bool are_tiles = std::ranges::all_of(rates.tiles, [](const KernelRates::Tile& tile) {
    return tile.rows > 0 && tile.columns > 0 && is_share(tile.share);
  });
  if (!are_tiles) return "a tile needs positive rows and columns, and a share up to 1";
  if (!are_levels(rates.levels)) return "levels need ascending bytes and a positive bandwidth";
  if (!are_attention(rates.attention) || !are_attention(rates.cudnn_attention))
    return "attention needs ascending head sizes and shares up to 1";
  return {};
}

}  // namespace jointer
