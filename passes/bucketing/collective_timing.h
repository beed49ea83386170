#pragma once

// Computes when each collective starts and is waited for, for a given order of compute.
// collective_timing.cpp describes the algorithm.

#include <cstdint>
#include <vector>

#include "passes/bucketing/overlap_graph.h"

namespace jointer {

// Bounds that the caller sets where memory is short, indexed by the number of the collective.
struct TimingBounds {
  std::vector<Place> not_before;  // no start before this place
  std::vector<Place> not_behind;  // no wait after this place
  explicit TimingBounds(const OverlapGraph& graph)
      : not_before(graph.collectives.size(), 0), not_behind(graph.collectives.size(), kNoPlace) {}
};

// Returns every place once. The order may still break dependencies between collectives, if the
// input of one comes from another: stable_order corrects it.
std::vector<Place> time_collectives(const OverlapGraph& graph, const TimingBounds& bounds);

}  // namespace jointer
