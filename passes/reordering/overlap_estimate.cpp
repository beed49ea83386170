#include "passes/reordering/overlap_estimate.h"

#include <algorithm>

#include "core/base/checked.h"

namespace jointer {

std::int64_t OverlapEstimate::ns(Call call) const {
  const double multiplier =
      calls_.is_start(call) ? multipliers_.communication : multipliers_.compute;
  // Multipliers are unlimited, so cap the time at about ten years, which is longer than any call.
  constexpr double kMax = 3e17;
  return saturating_round(std::min(static_cast<double>(calls_.ns(call)) * multiplier, kMax));
}

bool OverlapEstimate::ends(const LiveOrder& order, Call start, Call other) const {
  if (calls_.is_sync(other)) return true;
  if (!calls_.is_wait(other)) return false;
  const Call waited = calls_.partner(other);
  return waited != kNoCall && calls_.stream(waited) == calls_.stream(start) &&
         order.place(waited) > order.place(start);
}

Overlap OverlapEstimate::of(const LiveOrder& order, Call start, Stretch stretch) const {
  Overlap overlap{.communication = ns(start)};
  for (std::size_t i = order.place(start) + 1; i < stretch.last; ++i) {
    const Call other = order.at(i);
    if (calls_.is_wait(other) && calls_.partner(other) == start) break;
    if (ends(order, start, other)) {
      overlap.is_cut = true;
      break;
    }
    if (!calls_.is_start(other)) overlap.compute += ns(other);
  }
  return overlap;
}

}  // namespace jointer
