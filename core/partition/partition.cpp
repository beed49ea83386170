// Partitions a joint graph as torch's two partitioners do. min_cut.cpp and default_partition.cpp
// choose the values to save.
//
// min_cut: eliminates dead code, merges common subexpressions, settles tags (recompute_tags.cpp),
// then cuts. A graph without a backward goes to default_partition.
// default_partition: settles tags, but does not clean up.
//
// Deviations: a pair whose backward would read an input that its forward has written to is refused
// (write_order.cpp); torch emits it. A graph that is not functional, which means that it writes to
// anything but its inputs, or to an input other than with copy_ or set_, is refused, except by
// default_partition if nothing is tagged for recomputation. (torch's cut accepts any graph,
// although it is correct only for functional ones; if a graph that is not functional has recompute
// tags, torch's default_partition warns and passes it to the cut.)

#include "core/partition/partition.h"

#include <algorithm>

#include "core/partition/activation_budget.h"
#include "core/partition/cut_preparation.h"
#include "core/partition/default_partition.h"
#include "core/partition/joint_parts.h"
#include "core/partition/last_writes.h"
#include "core/partition/min_cut.h"
#include "core/partition/pair_order.h"
#include "core/partition/plan_reasons.h"
#include "core/partition/recompute_tags.h"
#include "core/partition/saved_values.h"

namespace jointer {
namespace {

// `partitioner`: the requested partitioner, whose rules apply when the pair is emitted.
Result<Partition> partition_default(Graph joint, Partitioner partitioner) {
  const std::vector<TagSource> tags = settle_tags(joint, Partitioner::default_partition);
  JOINTER_TRY(const JointParts parts, find_joint_parts(joint));
  JOINTER_TRY(const DefaultChoice choice, choose_default(joint));
  JOINTER_TRY(SavePlan plan, settle_saved_values(joint, parts, choice.values, choice.symbols));
  JOINTER_TRY(auto reasons, explain_plan({joint, parts, tags, plan, partitioner}, nullptr));
  return Partition{.joint = std::move(joint),
                   .plan = std::move(plan),
                   .reasons = std::move(reasons),
                   .cut_capacity = 0};
}

// Checks that a pair can be emitted from a result whose graph writes in place.
Result<void> check_writes(const Partition& found, Partitioner partitioner) {
  if (!LastWrites(found.joint).any()) return {};
  return PairOrders(found.joint, partitioner).order(found.plan).map([](const PairOrder&) {});
}

Result<Partition> partition_min_cut(Graph joint, const PartitionOptions& options) {
  const Watcher& watcher = options.watcher;
  JOINTER_CHECK(watcher.at(0.05));
  const std::vector<TagSource> tags = prepare_for_cut(joint);
  JOINTER_CHECK(watcher.at(0.15));
  JOINTER_TRY(const JointParts parts, find_joint_parts(joint));
  if (!parts.any_backward()) return partition_default(std::move(joint), options.partitioner);
  JOINTER_CHECK(watcher.at(0.2));
  const MinCut problem(joint, parts, tags);
  JOINTER_TRY(const BudgetedCut chosen,
              ActivationBudget(joint, parts, problem, options)
                  .choose(options.activation_budget, watcher.part(0.25, 0.8)));
  JOINTER_TRY(SavePlan plan, plan_of(joint, parts, chosen.saved));
  JOINTER_CHECK(watcher.at(0.9));
  JOINTER_TRY(auto reasons, explain_plan({joint, parts, tags, plan, options.partitioner},
                                         chosen.cut ? &*chosen.cut : nullptr));
  explain_budget(joint, chosen, plan, options, reasons);
  return Partition{.joint = std::move(joint),
                   .plan = std::move(plan),
                   .reasons = std::move(reasons),
                   .cut_capacity = chosen.cut ? chosen.cut->capacity : 0};
}

}  // namespace

std::string_view to_string(KnapsackSolver solver) {
  return name_in(kKnapsackSolvers, solver);
}

std::optional<KnapsackSolver> parse_knapsack_solver(std::string_view name) {
  return value_in(kKnapsackSolvers, name);
}

std::vector<std::string> knapsack_solver_names() {
  std::vector<std::string> names;
  for (const auto& [name, solver] : kKnapsackSolvers) names.emplace_back(name);
  return names;
}

Result<Partition> partition(const Graph& joint, const PartitionOptions& options) {
  JOINTER_CHECK(check_joint(joint));
  JOINTER_CHECK(options.watcher.at(0));
  Graph copy = joint;
  if (options.ignore_tags) drop_tags(copy);
  const bool is_default = options.partitioner == Partitioner::default_partition;
  const bool any_again =
      std::ranges::any_of(copy.order(), [&](NodeId id) { return must_recompute(copy.node(id)); });
  if (!is_default || any_again) JOINTER_CHECK(check_functional(copy));
  JOINTER_TRY(Partition found, is_default ? partition_default(std::move(copy), options.partitioner)
                                          : partition_min_cut(std::move(copy), options));
  JOINTER_CHECK(check_writes(found, options.partitioner));
  return found;
}

}  // namespace jointer
