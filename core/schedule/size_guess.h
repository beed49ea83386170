#pragma once

// Estimates how much the step time depends on the sizes of process groups that must be guessed,
// because the capture does not contain them: the groups of all-reduces in FX text, for example.

#include <cstdint>
#include <vector>

#include "core/base/result.h"
#include "core/graph/graph.h"
#include "core/schedule/analysis.h"

namespace jointer {

struct SizeGuess {
  // The groups of which neither the capture nor an assumption (ranks_name) gives the size; none
  // stands for the collectives without a group.
  std::vector<GroupId> groups;
  // The number of ranks that the estimate is compared with.
  std::int64_t other_ranks = 0;
  // The step times with the default sizes (default_group_size), as in the estimate, and with
  // `other_ranks` in each of these groups.
  std::int64_t default_ns = 0, other_ns = 0;

  // True if the guess changes the step time by more than 1%.
  [[nodiscard]] bool matters() const;
};

// Finds the groups whose size is a guess. If there are any, estimates their collectives again with
// another number of ranks, and simulates the step. That number is at the other end of what is
// likely:
// - If the default is the world size, which is the maximum, it is 2, the minimum with which a
//   collective communicates. With a world of 1 or 2 ranks, the size is not a guess.
// - If the default is 2, because the capture lacks the world size, it is the number of GPUs of two
//   nodes, but at least 16. Groups of more than one node communicate over the network, which
//   matters most; more nodes add little, since each rank sends (n-1)/n of the bytes.
// `analysis`: the analysis of `graph`. Errors: same as make_estimator and Graph::assume.
Result<SizeGuess> guess_group_sizes(const Graph& graph, const Analysis& analysis);

}  // namespace jointer
