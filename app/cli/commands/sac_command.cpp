#include "app/cli/commands/sac_command.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "app/cli/commands/checks.h"
#include "app/cli/commands/figures.h"
#include "app/cli/commands/unused_options.h"
#include "core/base/byte_units.h"
#include "core/base/bytes.h"
#include "core/base/counted.h"
#include "core/base/number_text.h"
#include "core/policy/import.h"
#include "passes/built_in.h"
#include "passes/support/communicates.h"
#include "passes/tune/find_order.h"

namespace jointer::cli {
namespace {

// The plan to compare with: that of another capture, that of a policy applied to this graph as
// opened, or this graph's own plan.
Result<KnownPlan> other_plan(const SacCommand& options, Graph opened) {
  const MemoryOptions memory = memory_options(options.optimizer);
  if (options.against_tags)
    return own_plan("the capture's own tags", std::move(opened), options.estimator, memory);
  const Result<PaddedBytes> text = read_bytes(options.against);
  if (text && policy_source(text->view())) {
    const PolicyOptions policy{.save = {}, .every_nth = {}, .file = options.against, .preset = {}};
    JOINTER_CHECK(policy.apply_to(opened, false));
    return own_plan(options.against, std::move(opened), options.estimator, memory);
  }
  GraphOptions other = options.graph;
  other.file = options.against;
  other.backward.clear();
  other.graph.reset();
  JOINTER_TRY(Graph graph, other.open(options.json));
  return own_plan(options.against, std::move(graph), options.estimator, memory);
}

}  // namespace

Result<Budget> budget_of(const SacCommand& options) {
  if (options.budget.empty()) return Budget();
  std::string text = options.budget;
  std::erase(text, ' ');
  if (const auto number = number_of<double>(text); number && *number >= 0 && *number <= 1)
    return Budget{.activation = *number, .peak_bytes = {}};
  if (const auto bytes = parse_byte_count(text); bytes && *bytes >= 1) {
    if (!lacks_unit(text)) return Budget{.activation = 1, .peak_bytes = *bytes};
    return fail(Error::Kind::usage,
                "option --budget: `{}` has no unit; for peak memory, add one, as in {}; torch's "
                "activation budget is a number from 0 to 1",
                options.budget, with_likely_unit(text));
  }
  return fail(Error::Kind::usage,
              "option --budget: expected a number from 0 to 1 (torch's activation budget) or a "
              "peak memory size such as 40GiB, got `{}`",
              options.budget);
}

PartitionOptions partition_options(const SacCommand& options) {
  PartitionOptions made;
  made.partitioner =
      options.partitioner == "default" ? Partitioner::default_partition : Partitioner::min_cut;
  made.solver = parse_knapsack_solver(options.solver).value_or(KnapsackSolver::dp);
  made.rounding = options.strict_budget ? BudgetRounding::within : BudgetRounding::torch;
  return made;
}

LimitedMemory memory_of(const SacCommand& options) {
  return options.limit_of == to_string(LimitedMemory::reserved) ? LimitedMemory::reserved
                                                                : LimitedMemory::allocated;
}

AnalysisOptions analysis_options(const SacCommand& options) {
  return {.memory = memory_options(options.optimizer), .estimator = options.estimator.request()};
}

Result<void> check_order_options(const SacCommand& options, const Graph& graph) {
  if (options.twin_groups && !communicates(graph))
    return fail(Error::Kind::usage,
                "option --twin-groups: has no effect on {}, which has no collectives to move",
                options.graph.file);
  return {};
}

FindOrder find_order_of(const SacCommand& options, const Graph& graph) {
  if (options.keep_order || !options.format.empty() || !communicates(graph)) return {};
  return order_finder(built_in_passes(), analysis_options(options),
                      {.twin_groups = options.twin_groups});
}

Result<PolicyFormat> format_of(const SacCommand& options) {
  if (const auto format = parse_policy_format(options.format)) return *format;
  return fail(Error::Kind::usage,
              "option --export: expected torchtitan, selectors or recipe, got `{}`",
              options.format);
}

Result<void> check_search_options(const SacCommand& options, const CLI::App& command) {
  JOINTER_TRY(const Budget budget, budget_of(options));
  if (options.slower && !options.budget.empty())
    return fail(Error::Kind::usage,
                "options --budget and --slower cannot be used together: each sets a limit");
  if (!options.checkpointed.empty() && (options.slower || budget.peak_bytes))
    return fail(Error::Kind::usage,
                "options --checkpoint and {} cannot be used together: the search makes its own "
                "plan; use --checkpoint with a policy or an activation budget",
                options.slower ? "--slower" : "--budget BYTES");
  const bool frees = !options.target.free.empty();
  if (frees && (options.slower || budget.peak_bytes))
    return fail(Error::Kind::usage,
                "options --free and {} cannot be used together: each sets a limit",
                options.slower ? "--slower" : "--budget BYTES");
  if (!options.slower && !budget.peak_bytes)
    JOINTER_CHECK(
        refuse_options(command, {"--limit-of"}, "needs --slower, or a --budget in bytes"));
  const bool has_limit = budget.peak_bytes || frees;
  if (!has_limit)
    JOINTER_CHECK(refuse_options(command,
                                 {"--at-most", "--by", "--same-in-all-layers", "--no-recompute"},
                                 "needs --free, or a --budget in bytes"));
  if (!options.format.empty())
    JOINTER_CHECK(refuse_options(command, {"--keep-order", "--twin-groups"},
                                 "has no effect with --export, which never searches for an order"));
  if (options.keep_order && options.twin_groups)
    return fail(Error::Kind::usage,
                "options --keep-order and --twin-groups cannot be used together: only a new order "
                "can use additional process groups");
  if (options.slower || options.pareto || has_limit) return {};
  JOINTER_CHECK(refuse_options(
      command, {"--points", "--no-offload", "--effort", "--keep-order", "--twin-groups"},
      "needs --pareto, --slower, --free, or a --budget in bytes"));
  if (budget.activation > 0 && budget.activation < 1) return {};
  return refuse_options(command, {"--solver", "--strict-budget"},
                        options.budget.empty() ? "needs --budget, --slower, --free or --pareto"
                                               : "has no effect with the budgets 0 and 1");
}

Result<std::optional<PlanTarget>> target_of(const SacCommand& options, const CLI::App& command) {
  JOINTER_TRY(const Budget budget, budget_of(options));
  if (options.target.free.empty() &&
      (!budget.peak_bytes || !options.target.has_conditions(command)))
    return std::nullopt;
  JOINTER_TRY(PlanTarget target, options.target.target(command, options.no_offload));
  JOINTER_CHECK(
      refuse_options(command, {"--limit-of"},
                     "applies only to a search; a list of changes limits allocated memory"));
  return target;
}

void add_refusals(const PlanChange& change, std::vector<std::string>& notes) {
  constexpr std::size_t kMax = 3;
  for (std::size_t i = 0; i < change.refused.size() && i < kMax; ++i)
    notes.push_back(change.refused[i].text + ".");
  if (change.refused.size() > kMax)
    notes.push_back(counted(change.refused.size() - kMax,
                            "more value of the checkpointed modules is unchanged.",
                            "more values of the checkpointed modules are unchanged."));
}

Result<void> add_comparison(const SacCommand& options, const Graph& opened, const Graph& graph,
                            std::vector<PlanRow> rows, SacAnswer& answer) {
  JOINTER_TRY(KnownPlan other, other_plan(options, opened));
  KnownPlan now{
      .name = "this plan", .graph = graph, .rows = std::move(rows), .figures = answer.figures};
  JOINTER_TRY(answer.against, compare_plans(std::move(other), std::move(now)));
  return {};
}

int print_answer(const SacCommand& options, const Graph& graph, const SacAnswer& answer) {
  const bool is_met = !answer.limit || answer.limit->met;
  if (!is_met)
    fmt::print(stderr, "jointer: {}\n",
               answer.target ? answer.target->why_not_reached()
                             : "no plan meets the limit; this is the closest one found");
  const int code = is_met ? ExitCode::done : ExitCode::negative_answer;
  if (options.output == "-") return code;
  if (options.json) {
    print_json(to_json(answer, graph));
  } else if (answer.exported) {
    fmt::print("{}", answer.exported->text);
    for (const std::string& difference : answer.exported->differences)
      fmt::print(stderr, "jointer: {}\n", difference);
  } else {
    print_tables(answer, graph, options.top);
  }
  return code;
}

}  // namespace jointer::cli
