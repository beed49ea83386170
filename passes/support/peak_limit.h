#pragma once

#include <cstdint>

#include "core/pass/pass.h"

namespace jointer {

// True if a pass may change the peak from `before` to `after` bytes: there is no limit, `after` is
// within the limit, or the peak does not grow. Otherwise, adds a decision that says that the graph
// stays unchanged.
bool is_within_peak_limit(std::int64_t before, std::int64_t after, PassContext& context);

// Applies the same test to the peaks of two graphs. Does not compute peaks if there is no limit.
bool is_within_peak_limit(const Graph& before, const Graph& after, PassContext& context);

// For a pass that has changed a graph and reported the changes: if the limit does not allow the
// result, restores the graph to `before`, removes the reports of changes after the first `count`
// decisions, and adds a decision that says that the graph stays unchanged.
void undo_above_peak_limit(Graph& graph, const Graph& before, std::size_t count,
                           PassContext& context);

}  // namespace jointer
