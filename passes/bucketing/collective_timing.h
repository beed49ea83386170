#pragma once

// Computes where each collective starts and is waited for, given the order of compute.
// collective_timing.cpp describes the algorithm.

#include <cstdint>
#include <vector>

#include "passes/bucketing/overlap_graph.h"

namespace jointer {

// Bounds that the caller sets to save memory, indexed by collective. They apply as far as
// dependencies allow.
struct TimingBounds {
  std::vector<Place> not_before;  // no start before this position
  std::vector<Place> not_behind;  // no wait after this position
  explicit TimingBounds(const OverlapGraph& graph)
      : not_before(graph.collectives.size(), 0), not_behind(graph.collectives.size(), kNoPlace) {}
};

// Returns an order that contains every position once. If a collective depends on the result of
// another collective, the order may break that dependency; the caller corrects it (stable_order).
std::vector<Place> time_collectives(const OverlapGraph& graph, const TimingBounds& bounds);

}  // namespace jointer
