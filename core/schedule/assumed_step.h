#pragma once

// Estimates the step time under other assumptions about process groups (core/graph/group_argument.h).

#include <cstdint>
#include <functional>

#include "core/base/result.h"
#include "core/graph/graph.h"
#include "core/schedule/analysis.h"

namespace jointer {

// Estimates the calls for which `changes` returns true again, under these assumptions, and
// simulates the step. `analysis`: the analysis of `graph`. Errors: same as make_estimator and
// Graph::assume.
Result<std::int64_t> step_if_assumed(const Graph& graph, const Analysis& analysis,
                                     const Assumptions& assumptions,
                                     const std::function<bool(const Node&)>& changes);

}  // namespace jointer
