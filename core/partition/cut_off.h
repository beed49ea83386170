#pragma once

// Finds the density at which a plan switches from saving values to recomputing them.

#include <cstdint>
#include <optional>
#include <vector>

namespace jointer {

// A value that a plan saves or recomputes.
struct WeighedValue {
  double density = 0;      // bytes freed by recomputing it, per unit of cost
  std::int64_t bytes = 0;  // not negative
  bool is_recomputed = false;
};

struct CutOff {
  // The smallest density at which the plan recomputes: a value with a lower density is saved,
  // unless it is misplaced.
  double density = 0;
  // The bytes of values that the plan treats contrary to the cut-off.
  std::int64_t misplaced_bytes = 0;
};

// The cut-off that misplaces the fewest bytes. nullopt if the plan does not decide by density, that
// is, if a cut-off above or below all values misplaces no more bytes. If the plan recomputes all
// values, the cut-off is the lowest density among those with bytes. Cost: O(n log n).
std::optional<CutOff> cut_off(std::vector<WeighedValue> values);

}  // namespace jointer
