// `jointer sac` for pairs. If no option changes the plan, the saved values are shown as captured.
// If one does, the pair is joined, and changes start from the pair's own plan unless the options
// make a partitioner decide from scratch.
//
// The estimates of that plan are those of the pair as it is. Passes may have reordered the pair
// since it was partitioned, while every other plan is evaluated in its partitioner's order. If
// min_cut's order gives the same estimates as the pair, the pair's plan is treated like any other.

#include "app/cli/commands/sac_pair.h"

#include "app/cli/commands/figures.h"
#include "app/cli/commands/plan_comparison.h"
#include "app/cli/commands/sac_limit.h"
#include "core/base/counted.h"
#include "core/partition/cut_preparation.h"
#include "core/schedule/caching_allocator.h"

namespace jointer::cli {
namespace {

// True if min_cut's preparation keeps all nodes, so that plans have the same meaning before and
// after it.
bool is_prepared(const Graph& joint) {
  Graph prepared = joint;
  prepare_for_cut(prepared);
  return prepared.order().size() == joint.order().size();
}

// Finds the partitioner in whose order the plan has the same estimates as the pair, and sets
// `found.partitioner` and `found.point`. `is_described`: false if the pair lacks the memory and
// time of calls that the joint graph has.
Result<void> judge(const SacCommand& options, bool is_described, PairPlan& found) {
  JOINTER_TRY(const PlanFigures captured,
              captured_figures(found.pair, options.estimator, memory_options(options.optimizer)));
  JOINTER_TRY(const std::unique_ptr<Estimator> estimator, options.estimator.make(found.joint));
  const std::vector<NodeCost> costs = estimate_all(found.joint, *estimator);
  const std::vector<Flops> flops = flops_of(found.joint);
  const MemoryOptions memory = memory_options(options.optimizer);
  std::optional<PlanFigures> nearest;
  Result<void> failed;
  for (const Partitioner partitioner : {Partitioner::min_cut, Partitioner::default_partition}) {
    const PlanWhatIf what_if(
        found.joint, costs, flops, memory, {},
        {.transfers = estimator->transfer_costs(), .partitioner = partitioner});
    const auto figures = what_if.figures(found.plan);
    if (!figures) {
      failed = tl::unexpected(figures.error());
      continue;
    }
    const bool is_same = figures->figures == captured.figures;
    if (nearest && !is_same) continue;
    nearest = *figures;
    found.partitioner = partitioner;
    if (is_same) break;
  }
  if (!nearest) return failed;
  const bool is_same = nearest->figures == captured.figures;
  found.point = {.budget = -1,
                 .name = kThisPlan,
                 .plan = found.plan,
                 .figures = is_described ? captured : *nearest};
  const bool is_like_others =
      (is_same || !is_described) && found.partitioner == Partitioner::min_cut;
  if (!is_like_others || !is_prepared(found.joint)) {
    found.point.partitioner = std::nullopt;
    found.point.reserved_bytes = reserved_peak_bytes(found.pair, memory);
  }
  if (!is_same && is_described)
    found.notes.push_back(
        fmt::format("The pair is not in the order in which a partitioner leaves it. `{}` has the "
                    "estimates of the pair as it is; changed plans are in a partitioner's order.",
                    kThisPlan));
  return {};
}

}  // namespace

bool decides_anew(const SacCommand& options, const CLI::App& command) {
  const auto budget = budget_of(options);
  const bool is_activation_budget = !options.budget.empty() && budget && !budget->peak_bytes;
  return options.policy.any() || options.ignore_tags || is_activation_budget ||
         command.count("--partitioner") > 0;
}

Result<PairPlan> join_for_plan(const SacCommand& options, Graph pair, bool is_anew) {
  auto joined = join_with_plan(pair);
  if (!joined)
    return fail(joined.error().kind, "{}: {}", options.graph.file, joined.error().message);
  PairPlan found{
      .pair = std::move(pair), .joint = std::move(joined->joint), .plan = std::move(joined->plan)};
  if (is_anew) {
    found.notes.push_back(
        fmt::format("{} is a pair: its halves were joined into a joint graph, which the options "
                    "partition from scratch.",
                    options.graph.file));
    return found;
  }
  found.notes.push_back(
      fmt::format("{} is a pair: its halves were joined into a joint graph, whose plan can change. "
                  "`{}` is the plan of the pair as captured.",
                  options.graph.file, kThisPlan));
  if (joined->undescribed > 0)
    found.notes.push_back(fmt::format(
        "The pair does not describe {}; the estimates include the memory and time of {}, unlike "
        "those of the pair as captured.",
        counted(joined->undescribed, "call through a random state", "calls through random states"),
        joined->undescribed == 1 ? "this call" : "these calls"));
  JOINTER_CHECK(judge(options, joined->undescribed == 0, found));
  return found;
}

}  // namespace jointer::cli
