#pragma once

// Compares the values that two plans save, recompute and offload, for `jointer diff`,
// `jointer sac --against` and `jointer apply --recipe`.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/cli/commands/options.h"
#include "core/graph/graph.h"
#include "core/partition/plan_difference.h"
#include "core/partition/plan_rows.h"
#include "core/partition/plan_what_if.h"
#include "core/schedule/memory_timeline.h"

namespace jointer::cli {

struct KnownPlan {
  std::string name;  // for the user, such as a file or "A"
  Graph graph;       // contains the nodes of the rows
  std::vector<PlanRow> rows;
  PlanFigures figures;
};

struct PlanComparison {
  KnownPlan before, after;
  PlanDifference difference;
};

// Returns a graph's own plan: for a joint graph, min_cut's plan under the graph's tags; for a flat
// training step, the plan of the step with its tags applied; for a pair, what the pair saves and
// recomputes. Error (usage): the graph is a single half or a subgraph, which has no plan, or the
// tags cannot be applied. Other errors: same as EstimatorOptions::make.
Result<KnownPlan> own_plan(std::string name, Graph graph, const EstimatorOptions& estimator,
                           const MemoryOptions& memory);

// Error (usage): both plans have values, but none has the name of a node in the other graph.
Result<PlanComparison> compare_plans(KnownPlan before, KnownPlan after);

// Compares two graphs' own plans. Returns std::nullopt if they are the same, and an error if they
// cannot be compared. The first member of each pair is the plan's name.
std::optional<Result<PlanComparison>> compare_own_plans(
    const std::pair<std::string, const Graph&>& before,
    const std::pair<std::string, const Graph&>& after, const EstimatorOptions& estimator,
    const MemoryOptions& memory);

// Returns the estimates of a graph to which its plan has already been applied. Error: same as
// EstimatorOptions::make and partitioned_values.
Result<PlanFigures> captured_figures(const Graph& graph, const EstimatorOptions& estimator,
                                     const MemoryOptions& memory);

// "save", "recompute" or "offload"; null if the plan does not need the value.
Json action_json(MaybeAction action);
Json to_json(const PlanComparison& comparison);
Json to_json(const Result<PlanComparison>& comparison);  // {"error": MESSAGE} if it failed
// Prints the number of changed values and the estimates of both plans.
void print_plan_figures(const PlanComparison& comparison);
// Like print_plan_figures, followed by tables of the changes with at most `top` rows each.
void print_plan_comparison(const PlanComparison& comparison, std::size_t top);

}  // namespace jointer::cli
