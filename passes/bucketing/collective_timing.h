#pragma once

// When each collective starts and is waited for, in an order of compute that is given. How is at
// the top of collective_timing.cpp.

#include <cstdint>
#include <vector>

#include "passes/bucketing/overlap_graph.h"

namespace jointer {

// What the caller wants of single collectives, by number: where memory is short.
struct TimingBounds {
  std::vector<Place> not_before;  // no start ahead of this place
  std::vector<Place> not_behind;  // no wait behind this place
  explicit TimingBounds(const OverlapGraph& graph)
      : not_before(graph.collectives.size(), 0), not_behind(graph.collectives.size(), kNoPlace) {}
};

// Every place once, in an order that may still break dependencies where a collective's input or
// result comes from another collective: to be put right by stable_order.
std::vector<Place> time_collectives(const OverlapGraph& graph, const TimingBounds& bounds);

}  // namespace jointer
