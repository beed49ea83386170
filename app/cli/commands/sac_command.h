#pragma once

// The options of `jointer sac`, and functions used for all kinds of graphs.

#include <CLI/CLI.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/commands/options.h"
#include "app/cli/commands/sac_answer.h"
#include "app/cli/commands/sac_policy.h"
#include "app/cli/commands/sac_target.h"
#include "core/partition/plan_frontier.h"
#include "core/partition/plan_rows.h"
#include "core/policy/export.h"
#include "core/policy/ordered_search.h"
#include "core/policy/trade_off.h"
#include "core/schedule/analysis.h"

namespace jointer::cli {

struct SacCommand {
  GraphOptions graph;
  EstimatorOptions estimator;
  PolicyOptions policy;
  TargetOptions target;
  std::string partitioner = "min_cut", solver = "dp", budget, optimizer = "none", format, output;
  std::string against;  // a capture or a policy
  std::string limit_of = "allocated";
  std::optional<double> slower;
  std::vector<std::string> why, checkpointed;
  std::size_t points = 64, top = 15, effort = PlanFrontier::kEffort;
  bool ignore_tags = false, strict_budget = false, pareto = false, json = false;
  bool no_offload = false, against_tags = false, keep_order = false, twin_groups = false;

  // True if the command makes a plan; false if it only reports the graph's plan.
  [[nodiscard]] bool decides() const {
    return policy.any() || ignore_tags || !budget.empty() || slower || pareto || !format.empty() ||
           !output.empty() || !why.empty() || !target.free.empty() || !checkpointed.empty();
  }
  [[nodiscard]] bool compares() const { return against_tags || !against.empty(); }
  // True if the command must keep the graph as opened, before a policy is applied to it.
  [[nodiscard]] bool needs_opened() const { return !format.empty() || compares(); }
};

struct Budget {
  double activation = 1;                   // torch's activation budget, from 0 to 1
  std::optional<std::int64_t> peak_bytes;  // set if the budget is a limit of peak memory instead
};

// Returns the budget in the options: torch's activation budget, a number from 0 to 1 without a
// unit; or a limit of peak memory, a number with a unit or an integer of at least 1 MiB. Error
// (usage): it is neither.
Result<Budget> budget_of(const SacCommand& options);
PartitionOptions partition_options(const SacCommand& options);
LimitedMemory memory_of(const SacCommand& options);
AnalysisOptions analysis_options(const SacCommand& options);
// Refuses options of orders if the graph has none to search. `graph`: the opened graph.
Result<void> check_order_options(const SacCommand& options, const Graph& graph);
// Returns a function that finds orders for the plans that a search tries. Empty if plans stay in
// their own order: with --keep-order or --export, and for graphs without asynchronous collectives
// or copies.
FindOrder find_order_of(const SacCommand& options, const Graph& graph);
// Error (usage): the format is unknown.
Result<PolicyFormat> format_of(const SacCommand& options);
// Refuses options of a search if there is no search, and mutually exclusive options.
Result<void> check_search_options(const SacCommand& options, const CLI::App& command);
// The conditions for a list of changes; std::nullopt if the options set none. Error (usage): the
// conditions contradict each other or other options.
Result<std::optional<PlanTarget>> target_of(const SacCommand& options, const CLI::App& command);
// Adds notes for values that could not be changed.
void add_refusals(const PlanChange& change, std::vector<std::string>& notes);

// Adds a comparison of the answer's plan with the plan that the options name. `opened`: the graph
// before the policy was applied. `graph`, `rows`: the graph of the answer's plan, and its values.
Result<void> add_comparison(const SacCommand& options, const Graph& opened, const Graph& graph,
                            std::vector<PlanRow> rows, SacAnswer& answer);
// Prints the answer, unless the output file goes to standard output, and reports an unmet limit on
// standard error. Returns the exit code.
int print_answer(const SacCommand& options, const Graph& graph, const SacAnswer& answer);

struct PairPlan;

// Run the command for a joint graph or a flat training step, and return the exit code. `own`: the
// pair from which the joint graph was made; null if the joint graph was captured directly.
Result<int> run_joint(const SacCommand& options, Graph graph, const CLI::App& command,
                      const PairPlan* own = nullptr);
Result<int> run_step(const SacCommand& options, Graph graph, const CLI::App& command);

}  // namespace jointer::cli
