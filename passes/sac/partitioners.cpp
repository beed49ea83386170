// The partitioners as passes: each turns a joint graph into a pair. core/partition/min_cut.cpp,
// default_partition.cpp, activation_budget.cpp and knapsack.cpp describe the algorithms, their
// sources and the deviations. For every value that the backward reads, the pass adds a decision
// with the partitioner's reason.

#include "passes/sac/partitioners.h"

#include <algorithm>

#include "core/partition/partition.h"
#include "core/partition/region_budget.h"
#include "passes/support/parameters.h"

namespace jointer {

void decide_by_plan(const Partition& made, PassContext& context) {
  std::vector<bool> is_saved(made.joint.node_count(), false);
  for (const auto* list : {&made.plan.saved, &made.plan.saved_symbols})
    for (const NodeId id : *list) is_saved[id.index()] = true;
  for (const NodeId id : made.joint.order()) {
    const PlanReason& reason = made.reasons[id.index()];
    if (reason.kind == PlanReason::Kind::none) continue;
    const bool is_offloaded = std::ranges::binary_search(made.plan.offloaded, id);
    context.decide(made.joint, id,
                   is_offloaded           ? "offloaded"
                   : is_saved[id.index()] ? "saved"
                                          : "recomputed",
                   reason.text);
  }
  if (context.decisions().empty())
    context.decide("kept", "Nothing is saved: the backward reads nothing from the forward.");
}

namespace {

Result<void> run_partitioner(Graph& graph, PartitionOptions options, PassContext& context) {
  if (graph.is_pair())
    return fail(Error::Kind::usage,
                "the graph is already a forward/backward pair; run the pass on its joint graph");
  constexpr double kCut = 0.8;  // progress once the saved values are known
  double done = 0;
  options.watcher.report = [&](double part) { done = kCut * part; };
  options.watcher.is_cancelled = [&] { return !context.report(done); };
  JOINTER_TRY(Partition made, partition(graph, options));
  JOINTER_CHECK(context.report(kCut));
  JOINTER_TRY(Graph pair, emit_pair(made.joint, made.plan, options.partitioner));
  decide_by_plan(made, context);
  graph = std::move(pair);
  return {};
}

Parameter ignore_tags() {
  return flag("ignore_tags", false, "Ignore the tags on nodes.");
}

PassInfo info_of(std::string name, std::string summary, std::vector<Parameter> parameters) {
  return {.name = std::move(name),
          .summary = std::move(summary),
          .source = "torch/_functorch/partitioners.py",
          .stage = PassStage::partition,
          .parameters = std::move(parameters)};
}

}  // namespace

Pass min_cut_partition_pass() {
  return {
      .info = info_of(
          "min_cut_partition",
          "Splits a joint graph by a minimum cut: saves the fewest bytes from which the backward "
          "can "
          "recompute the rest cheaply.",
          {choice("region_budget", {"whole", "part", "ignore"}, "whole",
                  "Activation budgets annotated on regions of the model (torch 2.15). whole: they "
                  "must cover the whole forward; part: they apply to the whole graph even if they "
                  "cover only a part of it; ignore: they have no effect."),
           ignore_tags()}),
      .run = [](Graph& graph, const Arguments& arguments, PassContext& context) -> Result<void> {
        PartitionOptions options;
        options.ignore_tags = arguments.boolean("ignore_tags");
        const std::string& regions = arguments.text("region_budget");
        if (regions != "ignore" && !graph.is_pair()) {
          JOINTER_TRY(const auto budget,
                      region_budget(graph, regions == "whole" ? BudgetCoverage::whole
                                                              : BudgetCoverage::part));
          if (budget) options.activation_budget = *budget;
        }
        return run_partitioner(graph, options, context);
      }};
}

Pass default_partition_pass() {
  return {.info = info_of("default_partition",
                          "Splits a joint graph between its forward and its backward, and "
                          "recomputes values tagged for recomputation.",
                          {ignore_tags()}),
          .run = [](Graph& graph, const Arguments& arguments, PassContext& context) {
            PartitionOptions options;
            options.partitioner = Partitioner::default_partition;
            options.ignore_tags = arguments.boolean("ignore_tags");
            return run_partitioner(graph, options, context);
          }};
}

Pass knapsack_budget_pass() {
  Parameter budget = parameter(
      "budget", Parameter::Type::number, 0.5,
      "torch's activation_memory_budget: saved bytes as a fraction, from saving only inputs (0) to "
      "saving what the min cut saves (1). Overrides the budgets of regions.");
  budget.min = 0;
  budget.max = 1;
  return {
      .info = info_of("knapsack_budget",
                      "Splits a joint graph for an activation budget: a knapsack solver decides "
                      "which values are worth saving.",
                      {std::move(budget),
                       choice("solver", knapsack_solver_names(), "dp",
                              "The knapsack solver that decides what to save."),
                       flag("strict", false,
                            "Stay within the budget even if torch's rounding would exceed it."),
                       ignore_tags()}),
      .run = [](Graph& graph, const Arguments& arguments, PassContext& context) {
        PartitionOptions options;
        options.activation_budget = arguments.number("budget");
        options.solver = *parse_knapsack_solver(arguments.text("solver"));
        options.rounding =
            arguments.boolean("strict") ? BudgetRounding::within : BudgetRounding::torch;
        options.ignore_tags = arguments.boolean("ignore_tags");
        return run_partitioner(graph, options, context);
      }};
}

}  // namespace jointer
