#pragma once

#include <optional>

#include "core/schedule/time_range.h"
#include "views/session/snapshot/snapshot.h"

namespace jointer::views {

// Maps a range of a joint graph's step to the step of its pair, or the reverse, by the nodes that
// it covers: the smallest range that contains the same parts of their counterparts. The start and
// the end of one step map to those of the other. nullopt if the other graph does not run any of the
// nodes.
//
// The range follows the kernels in it. Collectives and copies overlap with them, and can be far
// away in the other step; they determine the range only if there are no kernels in it. Waits do not
// count, nor do recomputed nodes, since the joint graph runs them only in the forward. Cost: linear
// in nodes.
std::optional<TimeRange> mapped_range(const Snapshot& from, TimeRange range, const Snapshot& to);

}  // namespace jointer::views
