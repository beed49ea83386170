#pragma once

// Finds plans between two others, by following one of them for some values and the other for the
// rest. The top of plan_mixing.cpp describes how.

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "core/partition/plan_limit.h"
#include "core/partition/plan_relaxation.h"

namespace jointer {

// A plan as a list of decisions.
struct MixedPlan {
  std::vector<PlanAction> actions;  // indexed like PlanRelaxation::values
  Figures figures;
};

// The estimates of the plan with these decisions; nullopt if it is not legal, or if the search is
// over: cancelled, or without effort left.
using JudgeActions = std::function<std::optional<Figures>(std::span<const PlanAction>)>;

// The best plan found within the limit on the way from `within`, which is within it, to `beyond`,
// which is not. `within` itself if no better one is found.
MixedPlan mixed_within(const MixedPlan& within, const MixedPlan& beyond, const PlanLimit& limit,
                       const JudgeActions& judge);

// The best plan found on the way from `a` to `b`, including both.
MixedPlan blended(const MixedPlan& a, const MixedPlan& b, const PlanLimit& limit,
                  const JudgeActions& judge);

}  // namespace jointer
