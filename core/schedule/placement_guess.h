#pragma once

// Measures how much the step time depends on a guess: where the ranks of process groups run. A
// capture that does not describe its groups, such as FX text, contains only their sizes.

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/result.h"
#include "core/graph/graph.h"
#include "core/schedule/analysis.h"

namespace jointer {

struct PlacementGuess {
  // Groups of several ranks that neither the capture nor an assumption (stride_name) places.
  std::vector<GroupId> groups;
  // The step time if the ranks of these groups are next to each other, as in the estimate, and if
  // each rank is on a separate machine.
  std::int64_t neighbors_ns = 0, spread_ns = 0;

  // True if the guess changes the step time by more than 1 %.
  [[nodiscard]] bool matters() const;
};

// `analysis`: that of `graph`. Estimates the guessed groups' collectives a second time and
// simulates the step. Errors: same as make_estimator.
Result<PlacementGuess> guess_placement(const Graph& graph, const Analysis& analysis);

}  // namespace jointer
