#pragma once

// Estimates how much the step time depends on where the ranks of process groups run. The placement
// must be guessed for captures that contain only the sizes of their groups, such as FX text.

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/result.h"
#include "core/graph/graph.h"
#include "core/schedule/analysis.h"

namespace jointer {

struct PlacementGuess {
  // The groups with more than one rank that neither the capture nor an assumption (stride_name)
  // places.
  std::vector<GroupId> groups;
  // The step times if the ranks of these groups are next to each other, as in the estimate, and if
  // each rank is on a separate machine.
  std::int64_t neighbors_ns = 0, spread_ns = 0;

  // True if the guess changes the step time by more than 1%.
  [[nodiscard]] bool matters() const;
};

// Finds the groups whose placement is a guess. If there are any, estimates their collectives again
// with each rank on a separate machine, and simulates the step. `analysis`: the analysis of
// `graph`. Errors: same as make_estimator and Graph::assume.
Result<PlacementGuess> guess_placement(const Graph& graph, const Analysis& analysis);

}  // namespace jointer
