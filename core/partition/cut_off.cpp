// Finds the cut-off of a plan.
//
// A plan that only weighs bytes against cost recomputes the densest values, and switches at one
// density. Other plans come close: bans, chains and space that is too small for the next value put
// some values on the other side. The cut-off is the density of a recomputed value that misplaces
// the fewest bytes; among equal ones, the highest. Values whose density is the cut-off are never
// misplaced: the plan may save some of them and recompute others. A cut-off that is no better than
// one above all values or, if the plan saves any, below all values does not describe the plan and
// is ignored.

#include "core/partition/cut_off.h"

#include <algorithm>

namespace jointer {

std::optional<CutOff> cut_off(std::vector<WeighedValue> values) {
  std::ranges::stable_sort(
      values, [](const WeighedValue& a, const WeighedValue& b) { return a.density > b.density; });
  std::int64_t below = 0;  // bytes of recomputed values with a lower density
  std::int64_t all_saved = 0;
  for (const WeighedValue& value : values) (value.is_recomputed ? below : all_saved) += value.bytes;
  std::int64_t above = 0;  // bytes of saved values with a higher density
  // A cut-off above all values misplaces those that are recomputed; one below all values misplaces
  // the others.
  std::int64_t fewest = all_saved == 0 ? below : std::min(below, all_saved);
  std::optional<CutOff> best;
  for (std::size_t first = 0, last = 0; first < values.size(); first = last) {
    std::int64_t saved = 0;
    bool any_recomputed = false;
    for (; last < values.size() && values[last].density == values[first].density; ++last) {
      (values[last].is_recomputed ? below : saved) -= values[last].bytes;
      any_recomputed = any_recomputed || values[last].is_recomputed;
    }
    if (any_recomputed && above + below < fewest) {
      fewest = above + below;
      best = CutOff{.density = values[first].density, .misplaced_bytes = fewest};
    }
    above -= saved;
  }
  return best;
}

}  // namespace jointer
