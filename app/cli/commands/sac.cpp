// jointer sac FILE: shows what is saved for the backward and what is recomputed, given a policy, a
// partitioner and a budget; the trade-off between memory and time; and the policy in other
// programs' formats.

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "app/cli/commands/checks.h"
#include "app/cli/commands/commands.h"
#include "app/cli/commands/figures.h"
#include "app/cli/commands/options.h"
#include "app/cli/commands/outputs.h"
#include "app/cli/commands/sac_answer.h"
#include "app/cli/commands/sac_policy.h"
#include "app/cli/commands/sac_target.h"
#include "app/cli/commands/unused_options.h"
#include "core/base/bytes.h"
#include "core/base/checked.h"
#include "core/base/units.h"
#include "core/capture/native_writer.h"
#include "core/partition/kept_values.h"
#include "core/partition/plan_rows.h"
#include "core/partition/step_budget.h"
#include "core/policy/apply_step_tags.h"
#include "core/policy/checkpoint.h"
#include "core/policy/import.h"
#include "core/policy/step_values.h"
#include "core/policy/trade_off.h"
#include "core/policy/with_fsdp.h"

namespace jointer::cli {
namespace {

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
  bool no_offload = false, against_tags = false;

  // True if the command makes a plan; false if it only reports the graph's.
  [[nodiscard]] bool decides() const {
    return policy.any() || ignore_tags || !budget.empty() || slower || pareto || !format.empty() ||
           !output.empty() || !why.empty() || !target.free.empty() || !checkpointed.empty();
  }
  [[nodiscard]] bool compares() const { return against_tags || !against.empty(); }
  // True if the graph as opened is needed, before its policy is applied.
  [[nodiscard]] bool needs_opened() const { return !format.empty() || compares(); }
};

// Up to 1: torch's activation memory budget. Otherwise bytes: with a unit, or a whole number that
// cannot be meant as anything else.
Result<double> parse_budget(const std::string& text) {
  constexpr double kMinBytes = 1 << 20;
  static constexpr std::pair<std::string_view, double> kUnits[] = {
      {"", 1.0},
      {"B", 1.0},
      {"KiB", 1024.0},
      {"MiB", 1024.0 * 1024},
      {"GiB", 1024.0 * 1024 * 1024},
      {"KB", 1e3},
      {"MB", 1e6},
      {"GB", 1e9},
  };
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc() && std::isfinite(number) && number >= 0) {
    std::string_view unit(rest, static_cast<std::size_t>(end - rest));
    if (unit.starts_with(' ')) unit.remove_prefix(1);
    if (unit.empty() && number > 1 && (number < kMinBytes || number != std::floor(number)))
      return fail(Error::Kind::usage,
                  "option --budget: `{}` has no unit; for peak memory, add one, such as {}GiB; "
                  "torch's activation budget is a number from 0 to 1",
                  text, text);
    for (const auto& [name, factor] : kUnits)
      if (name == unit && number * factor < 9e18) return number * factor;
  }
  return fail(
      Error::Kind::usage,
      "option --budget: expected a number from 0 to 1 (torch's activation budget) or bytes of "
      "peak memory such as 40GiB, got `{}`",
      text);
}

PartitionOptions partition_options(const SacCommand& options) {
  PartitionOptions made;
  made.partitioner =
      options.partitioner == "default" ? Partitioner::default_partition : Partitioner::min_cut;
  made.solver = options.solver == "greedy"               ? KnapsackSolver::greedy
                : options.solver == "sliding_hirschberg" ? KnapsackSolver::sliding_hirschberg
                : options.solver == "knee_point"         ? KnapsackSolver::knee_point
                                                         : KnapsackSolver::dp;
  made.rounding = options.strict_budget ? BudgetRounding::within : BudgetRounding::torch;
  return made;
}

constexpr const char* kThisPlan = "this plan";

// A plan, the object that evaluates it, and what decided about it.
struct Solved {
  Partition partition;
  const PlanWhatIf* what_if = nullptr;
  Partitioner partitioner = Partitioner::min_cut;
  Decider decider = Decider::partitioner;  // about values without a tag
  std::optional<double> budget;            // torch's budget that gave the plan
  std::vector<MemoryPolicy> policies;      // in effect, by node; empty: a search had none
  std::span<const NodeCost> costs;
  TransferCosts transfers;
};

// Adopts the plan that meets a limit, unless it is the current one. `limit`: "a peak of at most
// 40GiB".
Result<void> take_plan(Solved& solved, const TradeOff& trade_off, const Fit& fit,
                       const std::string& limit) {
  const ParetoPoint& point = fit.point;
  if (point.name == kThisPlan) return {};
  const bool is_budget = point.budget >= 0, is_preset = !is_budget && !point.name.empty();
  const std::string found_by =
      is_budget   ? fmt::format("torch's budget {}, chosen for {},", point.budget, limit)
      : is_preset ? fmt::format("the preset {}, chosen for {},", point.name, limit)
                  : fmt::format("the search for {}", limit);
  JOINTER_TRY(Partition partition, trade_off.partition_by(point.plan, found_by));
  solved = {.partition = std::move(partition),
            .what_if = &trade_off.what_if(),
            .partitioner = Partitioner::min_cut,
            .decider = is_budget   ? Decider::partitioner
                       : is_preset ? Decider::preset
                                   : Decider::search,
            .budget = is_budget ? std::optional(point.budget) : std::nullopt,
            .policies = trade_off.policies(),
            .costs = solved.costs,
            .transfers = solved.transfers};
  return {};
}

LimitedMemory memory_of(const SacCommand& options) {
  return options.limit_of == to_string(LimitedMemory::reserved) ? LimitedMemory::reserved
                                                                : LimitedMemory::allocated;
}

// Changes the plan to meet a limit on the peak (bytes) or on the slowdown.
Result<LimitAnswer> meet_limit(const SacCommand& options, double budget, const TradeOff& trade_off,
                               Solved& solved) {
  if (!options.slower) {
    const auto limit = saturating_whole(budget);
    JOINTER_TRY(const Fit fit, trade_off.fastest_within(limit));
    JOINTER_CHECK(
        take_plan(solved, trade_off, fit, fmt::format("a peak of at most {}", options.budget)));
    return LimitAnswer{.kind = "peak",
                       .memory = options.limit_of,
                       .asked = static_cast<double>(limit),
                       .reached = static_cast<double>(memory_of(options) == LimitedMemory::reserved
                                                          ? fit.point.reserved_bytes.value_or(0)
                                                          : fit.point.figures.figures.peak_bytes),
                       .met = fit.fits,
                       .bound_ns = fit.point.bound_ns};
  }
  JOINTER_TRY(const Fit fit, trade_off.smallest_within(*options.slower));
  JOINTER_CHECK(
      take_plan(solved, trade_off, fit, fmt::format("a step at most {}% slower", *options.slower)));
  return LimitAnswer{.kind = "step",
                     .memory = options.limit_of,
                     .asked = static_cast<double>(trade_off.longest_step(*options.slower)),
                     .reached = static_cast<double>(fit.point.figures.figures.step_ns),
                     .met = fit.fits,
                     .bound_ns = fit.point.bound_ns};
}

// Replaces the plan of a partition. `why` becomes the reason for each call whose decision changes.
void replace_plan(Partition& partition, const SavePlan& plan, const std::string& why) {
  // By node: 1 if saved, 2 if offloaded.
  const auto decisions = [&](const SavePlan& of) {
    std::vector<std::uint8_t> by_node(partition.joint.node_count(), 0);
    for (const NodeId id : of.saved) by_node[id.index()] = 1;
    for (const NodeId id : of.offloaded) by_node[id.index()] = 2;
    return by_node;
  };
  const auto before = decisions(partition.plan), after = decisions(plan);
  for (std::size_t i = 0; i < before.size(); ++i)
    if (before[i] != after[i] && partition.joint.node(NodeId(i)).kind == NodeKind::call)
      partition.reasons[i] = {PlanReason::Kind::searched, {}, why};
  partition.plan = plan;
}

// Changes the plan by the shortest list that meets a target.
Result<TargetAnswer> meet_target(PlanTarget target, Solved& solved) {
  JOINTER_TRY(ChangeList list,
              find_changes(solved.partition.joint, *solved.what_if, solved.partition.plan, target));
  replace_plan(solved.partition, list.plan,
               fmt::format("changed for a peak of at most {}", format_bytes(target.peak_bytes)));
  return TargetAnswer{.target = std::move(target), .list = std::move(list), .best = {}};
}

// The plan and its figures, for comparison with other plans.
Result<ParetoPoint> point_of(const Solved& solved) {
  JOINTER_TRY(PlanFigures figures, solved.what_if->figures(solved.partition.plan));
  return ParetoPoint{.budget = -1,
                     .name = kThisPlan,
                     .plan = solved.partition.plan,
                     .figures = figures,
                     .partitioner = solved.partitioner};
}

Result<PolicyFormat> format_of(const SacCommand& options) {
  if (const auto format = parse_policy_format(options.format)) return *format;
  return fail(Error::Kind::usage,
              "option --export: expected torchtitan, selectors or recipe, got `{}`",
              options.format);
}

// The plan to compare with: that of another capture, of a policy applied to this graph as opened,
// or the one that this graph has by itself.
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

// Compares another plan with the one of the answer.
Result<void> add_comparison(const SacCommand& options, const Graph& opened, const Graph& graph,
                            std::vector<PlanRow> rows, SacAnswer& answer) {
  JOINTER_TRY(KnownPlan other, other_plan(options, opened));
  KnownPlan now{
      .name = "this plan", .graph = graph, .rows = std::move(rows), .figures = answer.figures};
  JOINTER_TRY(answer.against, compare_plans(std::move(other), std::move(now)));
  return {};
}

int print_answer(const SacCommand& options, const Graph& graph, const SacAnswer& answer) {
  const int code = answer.limit && !answer.limit->met ? ExitCode::answer_is_no : ExitCode::done;
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
  if (code != ExitCode::done)
    fmt::print(stderr, "jointer: {}\n",
               answer.target ? why_not_reached(answer.target->list, answer.target->target)
                             : "no plan meets the limit; this is the closest one found");
  return code;
}

// `opened`: the graph before its policy was applied, which the exported policy is for.
Result<int> finish_answer(const SacCommand& options, const Graph& opened, const Solved& solved,
                          SacAnswer answer) {
  const Partition& partition = solved.partition;
  if (!options.format.empty()) {
    JOINTER_TRY(const PolicyFormat format, format_of(options));
    JOINTER_TRY(answer.exported, export_plan(partition.joint, partition.plan, format, opened,
                                             {.partitioner = solved.partitioner,
                                              .memory = memory_options(options.optimizer),
                                              .costs = solved.costs,
                                              .transfers = solved.transfers}));
  }
  if (!options.output.empty()) {
    JOINTER_TRY(const Graph pair, emit_pair(partition.joint, partition.plan, solved.partitioner));
    JOINTER_CHECK(write_bytes(options.output, write_native(pair)));
  }
  return print_answer(options, partition.joint, answer);
}

// Options that change what is saved.
constexpr std::initializer_list<const char*> kPlanOptions{
    "--budget",       "--slower",     "--pareto",   "--strict-budget",
    "--partitioner",  "--solver",     "--points",   "--no-offload",
    "--free",         "--at-most",    "--by",       "--same-in-all-layers",
    "--no-recompute", "--checkpoint", "--limit-of", "--effort"};

// Refuses options for a search if there is no search, and options that exclude each other.
Result<void> check_search_options(const SacCommand& options, const CLI::App& command) {
  double budget = 1;
  if (!options.budget.empty()) {
    JOINTER_TRY(budget, parse_budget(options.budget));
  }
  if (options.slower && !options.budget.empty())
    return fail(Error::Kind::usage, "options --budget and --slower cannot be used together");
  if (!options.checkpointed.empty() && (options.slower || budget > 1))
    return fail(
        Error::Kind::usage,
        "option --checkpoint: a search for a limit makes its own plan; use --checkpoint with "
        "a policy or an activation budget");
  const bool frees = !options.target.free.empty();
  if (frees && (options.slower || budget > 1))
    return fail(Error::Kind::usage,
                "options --free and {} cannot be used together: each sets a limit",
                options.slower ? "--slower" : "--budget BYTES");
  if (!options.slower && budget <= 1)
    JOINTER_CHECK(refuse_options(command, {"--limit-of"},
                                 "needs --slower or a --budget in bytes of peak memory"));
  const bool has_limit = budget > 1 || frees;
  if (!has_limit)
    JOINTER_CHECK(refuse_options(command,
                                 {"--at-most", "--by", "--same-in-all-layers", "--no-recompute"},
                                 "needs --free, or a --budget in bytes of peak memory"));
  if (options.slower || options.pareto || has_limit) return {};
  JOINTER_CHECK(
      refuse_options(command, {"--points", "--no-offload", "--effort"},
                     "needs --pareto, --slower, --free, or a --budget in bytes of peak memory"));
  if (budget > 0 && budget < 1) return {};
  return refuse_options(command, {"--solver", "--strict-budget"},
                        options.budget.empty() ? "needs --budget, --slower or --pareto"
                                               : "has no effect on the budgets 0 and 1");
}

// Notes for values that could not be changed.
void add_refusals(const PlanChange& change, std::vector<std::string>& notes) {
  constexpr std::size_t kMax = 3;
  for (std::size_t i = 0; i < change.refused.size() && i < kMax; ++i)
    notes.push_back(change.refused[i].text + ".");
  if (change.refused.size() > kMax)
    notes.push_back(fmt::format("{} more values of the checkpointed modules are unchanged.",
                                change.refused.size() - kMax));
}

// Checkpoints modules in a plan of a joint graph.
Result<void> checkpoint_modules(const SacCommand& options, Solved& solved,
                                std::vector<std::string>& notes) {
  Partition& partition = solved.partition;
  JOINTER_TRY(const auto groups, calls_of_modules(partition.joint, options.checkpointed));
  JOINTER_TRY(const PlanChange change,
              checkpoint(partition.joint, *solved.what_if, partition.plan, groups));
  add_refusals(change, notes);
  replace_plan(partition, change.plan, "checkpointed with its module");
  return {};
}

Result<int> run_joint(const SacCommand& options, Graph graph, const CLI::App& command) {
  double budget = 1;
  if (!options.budget.empty()) {
    JOINTER_TRY(budget, parse_budget(options.budget));
  }
  JOINTER_CHECK(check_search_options(options, command));
  const bool frees = !options.target.free.empty();
  std::optional<PlanTarget> target;
  if (frees || (budget > 1 && options.target.has_conditions(command))) {
    JOINTER_TRY(target, options.target.target(command, options.no_offload));
  }
  const Graph opened = options.needs_opened() ? graph : Graph{};
  const MemoryPolicy fsdp = options.ignore_tags ? MemoryPolicy::none : fsdp_policy(graph);
  JOINTER_TRY(AppliedPolicy policy, options.policy.apply_to(graph, options.ignore_tags));
  PartitionOptions partitioning = partition_options(options);
  if (budget <= 1) partitioning.activation_budget = budget;
  if (budget <= 1 && !options.budget.empty() &&
      partitioning.partitioner == Partitioner::default_partition)
    return fail(Error::Kind::usage,
                "option --budget: the default partitioner has no activation budget; use "
                "--partitioner min_cut");
  JOINTER_TRY(const Partition partition, jointer::partition(graph, partitioning));
  JOINTER_TRY(const std::unique_ptr<Estimator> estimator, options.estimator.make(partition.joint));
  const std::vector<NodeCost> costs = estimate_all(partition.joint, *estimator);
  const std::vector<Flops> flops = flops_of(partition.joint);
  const MemoryOptions memory = memory_options(options.optimizer);
  const PlanWhatIf what_if(
      partition.joint, costs, flops, memory, {},
      {.transfers = estimator->transfer_costs(), .partitioner = partitioning.partitioner});
  Solved solved{.partition = partition,
                .what_if = &what_if,
                .partitioner = partitioning.partitioner,
                .budget = budget < 1 ? std::optional(budget) : std::nullopt,
                .policies = policies_of(graph),
                .costs = costs,
                .transfers = estimator->transfer_costs()};

  if (!options.checkpointed.empty())
    JOINTER_CHECK(checkpoint_modules(options, solved, policy.notes));
  std::optional<TargetAnswer> met;
  if (target) {
    target->peak_bytes = saturating_whole(budget);
    if (frees) {
      JOINTER_TRY(const PlanFigures now, what_if.figures(solved.partition.plan));
      JOINTER_TRY(const std::int64_t bytes, options.target.free_bytes());
      target->peak_bytes = now.figures.peak_bytes - bytes;
    }
    JOINTER_TRY(met, meet_target(*target, solved));
  }
  std::unique_ptr<TradeOff> trade_off;
  if (budget > 1 || options.slower || options.pareto || met) {
    JOINTER_TRY(ParetoPoint now, point_of(solved));
    const TradeOff::Estimates estimates{.costs = costs,
                                        .flops = flops,
                                        .memory = memory,
                                        .simulation = {},
                                        .transfers = estimator->transfer_costs()};
    JOINTER_TRY(trade_off, TradeOff::make(graph, estimates,
                                          {.partition = partition_options(options),
                                           .now = std::move(now),
                                           .fsdp = fsdp,
                                           .has_policy = options.policy.any(),
                                           .offload = met || !options.no_offload,
                                           .memory = memory_of(options),
                                           .max_budgets = options.points,
                                           .effort = options.effort,
                                           .found = {}}));
  }
  std::optional<LimitAnswer> limit;
  if (met) {
    JOINTER_TRY(const Fit best, trade_off->fastest_within(target->peak_bytes));
    met->best = best.point.figures.figures;
    met->best_fits = best.fits;
    limit = LimitAnswer{.kind = "peak",
                        .asked = static_cast<double>(target->peak_bytes),
                        .reached = static_cast<double>(met->list.figures.figures.peak_bytes),
                        .met = met->list.is_reached};
  } else if (budget > 1 || options.slower) {
    JOINTER_TRY(limit, meet_limit(options, budget, *trade_off, solved));
  }
  JOINTER_TRY(SacAnswer answer, describe_plan(solved.partition.joint, solved.partition.plan,
                                              solved.partition.reasons, *solved.what_if));
  answer.limit = limit;
  answer.target = std::move(met);
  answer.notes = std::move(policy.notes);
  if (options.pareto) {
    JOINTER_TRY(ParetoPoint now, point_of(solved));
    trade_off->set_now(std::move(now));
    JOINTER_TRY(answer.pareto, trade_off->curve());
  }
  const ComparedPlan compared{.graph = solved.partition.joint,
                              .what_if = *solved.what_if,
                              .comparison = {.plan = solved.partition.plan,
                                             .partition = partition_options(options),
                                             .budget = solved.budget,
                                             .policies = solved.policies,
                                             .is_cancelled = {}}};
  JOINTER_TRY(answer.why, explain_values({.plan = compared,
                                          .reasons = solved.partition.reasons,
                                          .decider = solved.decider,
                                          .tags = std::move(policy.tags)},
                                         options.why));
  if (options.compares()) {
    JOINTER_TRY(std::vector<PlanRow> rows, plan_rows(*solved.what_if, solved.partition.plan));
    JOINTER_CHECK(add_comparison(options, opened, solved.partition.joint, std::move(rows), answer));
  }
  return finish_answer(options, opened, solved, std::move(answer));
}

// A plan for a flat training step: the step with the plan's tags, and how the plan was chosen.
struct PlannedStep {
  Graph tagged;
  std::string why;  // empty: the plan is that of the tags
  Decider chosen_by = Decider::search;
  std::optional<double> budget;  // the activation budget that gave the plan
  std::optional<LimitAnswer> limit;
  ParetoCurve pareto;
};

// Tags the step as the plan says.
Result<void> take_plan(PlannedStep& planned, const SavePlan& plan, std::string why) {
  JOINTER_TRY(const Edit tags, tag_as_planned(planned.tagged, plan));
  JOINTER_CHECK(apply(planned.tagged, tags));
  planned.why = std::move(why);
  return {};
}

// The figures of the step with its tags applied, and its plan.
Result<ParetoPoint> point_of_step(const SacCommand& options, const Graph& tagged) {
  Graph step = tagged;
  JOINTER_CHECK(apply_step_tags(step));
  JOINTER_TRY(const std::unique_ptr<Estimator> estimator, options.estimator.make(step));
  const std::vector<NodeCost> costs = estimate_all(step, *estimator);
  JOINTER_TRY(const std::vector<SaveCandidate> kept, kept_values(step, costs, flops_of(step)));
  ParetoPoint point{.budget = -1, .name = kThisPlan, .plan = {}, .figures = {}};
  point.figures = describe_captured(step, costs, kept, memory_options(options.optimizer)).figures;
  JOINTER_TRY(point.plan, plan_of_step(tagged, step));
  return point;
}

// Chooses a plan as the options ask, and finds the trade-off.
Result<PlannedStep> plan_step(const SacCommand& options, Graph tagged, MemoryPolicy fsdp,
                              std::vector<std::string>& notes) {
  double budget = 1;
  if (!options.budget.empty()) {
    JOINTER_TRY(budget, parse_budget(options.budget));
  }
  PlannedStep planned{.tagged = std::move(tagged), .why = {}, .limit = std::nullopt, .pareto = {}};
  const bool has_limit = budget > 1 || options.slower;
  if (!has_limit && !options.pareto && options.budget.empty() && options.checkpointed.empty())
    return planned;
  const Graph graph = planned.tagged;
  JOINTER_TRY(const std::unique_ptr<Estimator> estimator, options.estimator.make(graph));
  const std::vector<NodeCost> costs = estimate_all(graph, *estimator);
  const std::vector<Flops> flops = flops_of(graph);
  const TransferCosts transfers = estimator->transfer_costs();
  if (!options.budget.empty() && !has_limit) {
    const PlanWhatIf what_if(graph, costs, flops, memory_options(options.optimizer), {},
                             {.transfers = transfers});
    JOINTER_TRY(StepBudget budgets, StepBudget::make(graph, what_if, partition_options(options)));
    JOINTER_TRY(const SavePlan plan, budgets.plan(budget));
    JOINTER_CHECK(take_plan(planned, plan, fmt::format("an activation budget of {}", budget)));
    planned.chosen_by = Decider::partitioner;
    planned.budget = budget;
  }
  if (!options.checkpointed.empty()) {
    JOINTER_TRY(const ParetoPoint now, point_of_step(options, planned.tagged));
    const PlanWhatIf what_if(graph, costs, flops, memory_options(options.optimizer), {},
                             {.transfers = transfers});
    JOINTER_TRY(const auto groups, calls_of_modules(graph, options.checkpointed));
    JOINTER_TRY(const PlanChange change, checkpoint(graph, what_if, now.plan, groups));
    add_refusals(change, notes);
    JOINTER_CHECK(take_plan(planned, change.plan, "checkpointing"));
  }
  if (!has_limit && !options.pareto) return planned;
  JOINTER_TRY(ParetoPoint now, point_of_step(options, planned.tagged));
  JOINTER_TRY(const auto trade_off, TradeOff::make(graph,
                                                   {.costs = costs,
                                                    .flops = flops,
                                                    .memory = memory_options(options.optimizer),
                                                    .simulation = {},
                                                    .transfers = transfers},
                                                   {.partition = partition_options(options),
                                                    .now = std::move(now),
                                                    .fsdp = fsdp,
                                                    .has_policy = options.policy.any(),
                                                    .offload = !options.no_offload,
                                                    .memory = memory_of(options),
                                                    .max_budgets = options.points,
                                                    .effort = options.effort,
                                                    .found = {}}));
  if (has_limit) {
    Solved solved{.partition = trade_off->partition()};
    JOINTER_TRY(planned.limit, meet_limit(options, budget, *trade_off, solved));
    if (solved.what_if != nullptr)
      JOINTER_CHECK(take_plan(planned, solved.partition.plan,
                              options.slower
                                  ? fmt::format("a step at most {}% slower", *options.slower)
                                  : fmt::format("a peak of at most {}", options.budget)));
  }
  if (options.pareto) {
    JOINTER_TRY(now, point_of_step(options, planned.tagged));
    trade_off->set_now(std::move(now));
    JOINTER_TRY(planned.pareto, trade_off->curve());
  }
  return planned;
}

// A flat training step: forward and backward are already in one graph, so its tags are applied
// within it. A plan is a set of tags.
Result<int> run_step(const SacCommand& options, Graph graph, const CLI::App& command) {
  JOINTER_CHECK(refuse_options(
      command, {"--partitioner"},
      fmt::format("is for joint graphs, but {} is a flat training step, which no partitioner "
                  "splits: its tags are applied as they stand",
                  options.graph.file)));
  JOINTER_CHECK(check_search_options(options, command));
  const Graph opened = options.needs_opened() ? graph : Graph{};
  const MemoryPolicy fsdp = options.ignore_tags ? MemoryPolicy::none : fsdp_policy(graph);
  AppliedPolicy policy;
  std::optional<PlannedStep> planned;
  Graph asked;  // before the plan's tags; only for --why
  if (options.decides() || options.compares()) {
    JOINTER_TRY(policy, options.policy.apply_to(graph, options.ignore_tags));
    if (!options.why.empty()) asked = graph;
    JOINTER_TRY(planned, plan_step(options, std::move(graph), fsdp, policy.notes));
    graph = planned->tagged;
    JOINTER_TRY(const std::vector<Edit> edits, apply_step_tags(graph));
    for (const Edit& edit : edits)
      policy.notes.insert(policy.notes.end(), edit.notes.begin(), edit.notes.end());
  }
  JOINTER_TRY(const std::unique_ptr<Estimator> estimator, options.estimator.make(graph));
  const std::vector<NodeCost> costs = estimate_all(graph, *estimator);
  JOINTER_TRY(const std::vector<SaveCandidate> kept, kept_values(graph, costs, flops_of(graph)));
  SacAnswer answer = describe_captured(graph, costs, kept, memory_options(options.optimizer));
  answer.notes = std::move(policy.notes);
  if (planned) {
    const Graph& tagged = planned->tagged;
    answer.limit = std::move(planned->limit);
    answer.pareto = std::move(planned->pareto);
    const std::vector<StepValue> values = step_values(tagged, graph, kept);
    const StepReasons reasons{tagged, values, policy.tags, planned->why, planned->chosen_by};
    for (SavedValue& saved : answer.saved)
      if (const auto value = std::ranges::find(values, saved.node, &StepValue::node);
          value != values.end())
        saved.reason = reasons.text(*value);
    if (!options.why.empty()) {
      const std::vector<NodeCost> asked_costs = estimate_all(asked, *estimator);
      const std::vector<Flops> asked_flops = flops_of(asked);
      const PlanWhatIf what_if(asked, asked_costs, asked_flops, memory_options(options.optimizer),
                               {}, {.transfers = estimator->transfer_costs()});
      JOINTER_TRY(SavePlan plan, plan_of_step(tagged, graph));
      const ComparedPlan compared{.graph = asked,
                                  .what_if = what_if,
                                  .comparison = {.plan = std::move(plan),
                                                 .partition = partition_options(options),
                                                 .budget = planned->budget,
                                                 .policies = {},
                                                 .is_cancelled = {}}};
      JOINTER_TRY(answer.why, explain_step(reasons, compared, options.why));
    }
  }
  if (options.compares())
    JOINTER_CHECK(add_comparison(options, opened, planned->tagged,
                                 plan_rows(graph, kept, planned->tagged), answer));
  if (!options.format.empty()) {
    JOINTER_TRY(const PolicyFormat format, format_of(options));
    JOINTER_TRY(const SavePlan plan, plan_of_step(planned->tagged, graph));
    JOINTER_TRY(answer.exported, export_plan(planned->tagged, plan, format, opened,
                                             {.memory = memory_options(options.optimizer),
                                              .step_peak = answer.figures.figures.peak_bytes}));
  }
  if (!options.output.empty()) JOINTER_CHECK(write_bytes(options.output, write_native(graph)));
  return print_answer(options, graph, answer);
}

// Refuses options that do not affect the chosen output.
Result<void> check_answer_options(const SacCommand& options, const CLI::App& command) {
  const std::vector<OutputFile> outputs{{"--output", options.output}};
  JOINTER_CHECK(check_outputs(
      outputs, {options.graph.file, options.graph.backward, options.policy.file, options.against}));
  if (fills_standard_output(outputs))
    return refuse_options(command,
                          {"--json", "--export", "--pareto", "--points", "--why", "--against",
                           "--against-tags", "--top"},
                          kNoFigures);
  if (options.json)
    return refuse_options(command, {"--top"}, "limits the tables; --json lists everything");
  if (!options.format.empty())
    return refuse_options(command,
                          {"--pareto", "--points", "--why", "--against", "--against-tags", "--top"},
                          "has no effect with --export, which prints only the plan");
  return {};
}

Result<int> run(const SacCommand& options, const CLI::App& command) {
  JOINTER_CHECK(check_answer_options(options, command));
  JOINTER_TRY(Graph graph, options.graph.open(options.json));
  const CaptureKind kind = graph.part(PartId(0)).kind;
  if (!graph.is_pair() && kind == CaptureKind::joint)
    return run_joint(options, std::move(graph), command);
  if (!graph.is_pair() && kind == CaptureKind::train_step)
    return run_step(options, std::move(graph), command);
  const std::string what =
      fmt::format("{} is {}", options.graph.file,
                  graph.is_pair()                 ? "a pair"
                  : kind == CaptureKind::subgraph ? "a subgraph"
                                                  : fmt::format("a {} graph", to_string(kind)));
  if (options.decides())
    return fail(Error::Kind::usage,
                "{}: saved activations are fixed and can only be shown; policies need "
                "a joint graph or a flat training step",
                what);
  JOINTER_CHECK(refuse_options(
      command, kPlanOptions,
      fmt::format("is for joint graphs and flat training steps, but {}, and its saved activations "
                  "are fixed",
                  what)));
  JOINTER_TRY(const std::unique_ptr<Estimator> estimator, options.estimator.make(graph));
  const std::vector<NodeCost> costs = estimate_all(graph, *estimator);
  JOINTER_TRY(const std::vector<SaveCandidate> kept, kept_values(graph, costs, flops_of(graph)));
  SacAnswer answer = describe_captured(graph, costs, kept, memory_options(options.optimizer));
  if (options.compares())
    JOINTER_CHECK(add_comparison(options, graph, graph, plan_rows(graph, kept, graph), answer));
  return print_answer(options, graph, answer);
}

void add_plan_options(CLI::App& command, SacCommand& options) {
  const HelpGroup group(command, "Joint graphs and flat training steps only");
  set_choices(command.add_option("--partitioner", options.partitioner,
                                 "Joint graphs only: torch's partitioner to use"),
              {"min_cut", "default"});
  command
      .add_option(
          "--budget", options.budget,
          "Up to 1: torch's activation budget. Larger, or with a unit: maximum peak memory, "
          "for which the fastest plan is found")
      ->type_name("FRACTION|BYTES");
  command
      .add_option("--slower", options.slower,
                  "Find the plan with the lowest peak whose step is at most this much slower than "
                  "without this option")
      ->type_name("PERCENT")
      ->check(non_negative_number());
  command
      .add_option(
          "--checkpoint", options.checkpointed,
          "Recompute everything in these modules, such as layers.3, and save what they read")
      ->type_name("MODULE")
      ->delimiter(',');
  set_choices(
      command.add_option("--solver", options.solver,
                         "With --budget, --slower or --pareto: torch's algorithm for meeting an "
                         "activation budget"),
      {"dp", "greedy", "sliding_hirschberg", "knee_point"});
  command.add_flag("--strict-budget", options.strict_budget,
                   "With --budget, --slower or --pareto: never exceed the activation budget, even "
                   "by torch's rounding");
  command.add_flag(
      "--pareto", options.pareto,
      "Show peak memory against step time, for a range of budgets and upstream's presets");
  command.add_flag("--no-offload", options.no_offload,
                   "With --pareto, --slower, --free or a --budget in bytes: offload nothing to the "
                   "host");
  command
      .add_option("--limit-of", options.limit_of,
                  "With --slower or a --budget in bytes: the memory that counts, allocated (live "
                  "tensors) or reserved (by torch's caching allocator)")
      ->check(CLI::IsMember({"allocated", "reserved"}))
      ->capture_default_str();
  command
      .add_option("--effort", options.effort,
                  "With --pareto, --slower or a --budget in bytes: number of plans to evaluate for "
                  "each limit, in addition to a final check of single decisions. More find better "
                  "plans")
      ->type_name("N")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command
      .add_option("--points", options.points,
                  "With --pareto, --slower, --free or a --budget in bytes: maximum number of "
                  "budgets to try")
      ->type_name("N")
      ->check(whole_number(2, 1000));
}

}  // namespace

void add_sac_command(CLI::App& program, int& exit_code) {
  auto options = std::make_shared<SacCommand>();
  CLI::App* command = program.add_subcommand("sac",
                                             "Shows or decides which activations are saved for "
                                             "backward or recomputed, with costs and reasons");
  options->graph.add_to(*command);
  options->policy.add_to(*command);
  command->add_flag("--ignore-tags", options->ignore_tags,
                    "Ignore the recompute tags in the capture");
  add_plan_options(*command, *options);
  options->target.add_to(*command);
  command->add_option("--why", options->why, "Explain why these nodes are saved or recomputed")
      ->type_name("NODE")
      ->delimiter(',');
  CLI::Option* against =
      command
          ->add_option("--against", options->against,
                       "Show what this plan changes compared with another: that of a capture, or "
                       "that of a policy in a file, applied to this graph")
          ->type_name("FILE");
  command
      ->add_flag("--against-tags", options->against_tags,
                 "The same, compared with the plan that the capture has by itself")
      ->excludes(against);
  set_choices(command->add_option("--export", options->format,
                                  "Print only the plan: torchtitan's operator set, selectors, or a "
                                  "recipe"),
              {"torchtitan", "selectors", "recipe"});
  command
      ->add_option("-o,--output", options->output,
                   "Write the forward and backward as one native capture (`pair`), or the flat "
                   "training step with its tags applied; compressed if the name ends in .zst; `-` "
                   "is standard output, without the figures")
      ->type_name("FILE");
  options->estimator.add_to(*command);
  add_optimizer_option(*command, options->optimizer);
  command->add_option("--top", options->top, "List at most N rows in each table")
      ->type_name("N")
      ->check(whole_number(0));
  command->add_flag("--json", options->json, "Print the result as JSON");
  command->footer(
      "A joint graph takes all options, a flat training step all but --partitioner. A pair or a "
      "half "
      "is shown as captured.");
  command->callback(
      [options, command, &exit_code] { exit_code = finish(run(*options, *command)); });
}

}  // namespace jointer::cli
