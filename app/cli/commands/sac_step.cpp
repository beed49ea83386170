// `jointer sac` for flat training steps: forward and backward are already in one graph, so tags are
// applied within it. A plan is a set of tags.

#include <fmt/core.h>

#include <algorithm>

#include "app/cli/commands/figures.h"
#include "app/cli/commands/sac_command.h"
#include "app/cli/commands/sac_limit.h"
#include "app/cli/commands/unused_options.h"
#include "core/base/bytes.h"
#include "core/base/units.h"
#include "core/capture/native_writer.h"
#include "core/partition/partitioned_values.h"
#include "core/partition/recompute_tags.h"
#include "core/partition/step_budget.h"
#include "core/pass/pipeline_run.h"
#include "core/policy/apply_step_tags.h"
#include "core/policy/checkpoint.h"
#include "core/policy/point_of_step.h"
#include "core/policy/step_values.h"
#include "core/policy/with_fsdp.h"
#include "passes/built_in.h"
#include "passes/tune/find_order.h"

namespace jointer::cli {
namespace {

// A plan for a flat training step: the step with the plan's tags, and what the plan decided.
struct PlannedStep {
  Graph tagged;
  std::map<NodeId, StepChoice> chosen;  // empty if the step's own tags are the plan
  std::vector<MemoryPolicy> policies;   // see StepReasons
  std::optional<double> budget;         // the activation budget that resulted in the plan
  std::optional<LimitAnswer> limit;
  std::optional<TargetAnswer> target;
  ParetoCurve pareto;
  std::string order;  // the passes that reorder the step; may be empty
};

// Tags the step according to the plan, and records its decisions. `before`: the plan that it
// changes, whose decisions it leaves as they are; null if it decides about all values.
Result<void> tag_step(PlannedStep& planned, const SavePlan& plan, const StepChoice& choice,
                      const SavePlan* before = nullptr) {
  const std::vector<MemoryPolicy> policies = policies_of(planned.tagged);
  if (planned.policies.empty()) planned.policies = policies;
  JOINTER_TRY(const Edit tags, tag_as_planned(planned.tagged, plan));
  JOINTER_CHECK(apply(planned.tagged, tags));
  // By node: 1 for saved, 2 for offloaded, 0 for all other nodes.
  const auto decisions = [&](const SavePlan& of) {
    std::vector<std::uint8_t> by_node(planned.tagged.node_count(), 0);
    for (const NodeId id : of.saved) by_node[id.index()] = 1;
    for (const NodeId id : of.offloaded) by_node[id.index()] = 2;
    return by_node;
  };
  const auto now = decisions(plan), earlier = decisions(before != nullptr ? *before : SavePlan{});
  const auto is_left = [&](NodeId id) {
    return now[id.index()] != 0 && now[id.index()] == earlier[id.index()];
  };
  for (const NodeId id : planned.tagged.order())
    if (planned.tagged.node(id).policy != policies[id.index()] && !is_left(id))
      planned.chosen[id] = choice;
  return {};
}

// Chooses a plan according to the options and, with --pareto, finds the trade-off.
Result<PlannedStep> plan_step(const SacCommand& options, Graph tagged, MemoryPolicy fsdp,
                              std::optional<PlanTarget> target, std::vector<std::string>& notes) {
  JOINTER_TRY(const Budget budget, budget_of(options));
  PlannedStep planned{.tagged = std::move(tagged),
                      .chosen = {},
                      .policies = {},
                      .limit = std::nullopt,
                      .pareto = {}};
  const bool has_limit = budget.peak_bytes || options.slower || target;
  if (!has_limit && !options.pareto && options.budget.empty() && options.checkpointed.empty())
    return planned;
  const Graph graph = planned.tagged;
  JOINTER_TRY(const std::unique_ptr<Estimator> estimator, options.estimator.make(graph));
  const std::vector<NodeCost> costs = estimate_all(graph, *estimator);
  const std::vector<Flops> flops = flops_of(graph);
  const TransferCosts transfers = estimator->transfer_costs();
  const MemoryOptions memory = memory_options(options.optimizer);
  if (!options.budget.empty() && !has_limit) {
    const PlanWhatIf what_if(graph, costs, flops, memory, {}, {.transfers = transfers});
    JOINTER_TRY(StepBudget budgets, StepBudget::make(graph, what_if, partition_options(options)));
    JOINTER_TRY(const SavePlan plan, budgets.plan(budget.activation));
    JOINTER_CHECK(tag_step(planned, plan,
                           {.purpose = fmt::format("an activation budget of {}", budget.activation),
                            .by = Decider::partitioner}));
    planned.budget = budget.activation;
  }
  if (!options.checkpointed.empty()) {
    JOINTER_TRY(const ParetoPoint now,
                point_of_step(planned.tagged, kThisPlan, *estimator, memory));
    const PlanWhatIf what_if(graph, costs, flops, memory, {}, {.transfers = transfers});
    JOINTER_TRY(const auto groups, calls_of_modules(graph, options.checkpointed));
    JOINTER_TRY(const PlanChange change, checkpoint(graph, what_if, now.plan, groups));
    add_refusals(change, notes);
    JOINTER_CHECK(tag_step(planned, change.plan, {.purpose = "checkpointing", .by = Decider::user},
                           &now.plan));
  }
  if (!has_limit && !options.pareto) return planned;
  JOINTER_TRY(ParetoPoint now, point_of_step(planned.tagged, kThisPlan, *estimator, memory));
  const SavePlan current = now.plan;
  if (target) {
    target->peak_bytes = budget.peak_bytes.value_or(0);
    if (!options.target.free.empty()) {
      JOINTER_TRY(const std::int64_t bytes, options.target.free_bytes());
      target->peak_bytes = now.figures.figures.peak_bytes - bytes;
    }
  }
  JOINTER_TRY(const auto trade_off,
              TradeOff::make(
                  graph, {.costs = costs, .flops = flops, .memory = memory, .transfers = transfers},
                  trade_off_options(options, std::move(now), fsdp, bool(target))));
  if (target) {
    JOINTER_TRY(ChangeList list, find_changes(graph, trade_off->what_if(), current, *target));
    JOINTER_CHECK(
        tag_step(planned, list.plan,
                 {.purpose = fmt::format("a peak of at most {}", format_bytes(target->peak_bytes))},
                 &current));
    const auto make_step = [&] { return trade_off->graph_of(list.plan); };
    JOINTER_TRY(PlanOrder order,
                order_of_list(list, *target, make_step, find_order_of(options, graph)));
    planned.order = order.passes;
    planned.target = TargetAnswer{
        .target = *std::move(target), .list = std::move(list), .order = std::move(order)};
    JOINTER_TRY(planned.limit,
                compare_with_best(options, *trade_off, Partitioner::min_cut, *planned.target));
    return planned;
  }
  if (has_limit) {
    Solved solved{.partition = trade_off->partition()};
    JOINTER_TRY(planned.limit, meet_limit(options, budget, *trade_off, solved));
    planned.order = solved.order;
    if (solved.what_if != nullptr) {
      std::string purpose = options.slower
                                ? fmt::format("a step at most {}% slower", *options.slower)
                                : fmt::format("a peak of at most {}", options.budget);
      if (!solved.found_as.empty()) purpose += ": " + solved.found_as;
      JOINTER_CHECK(tag_step(planned, solved.partition.plan,
                             {.purpose = std::move(purpose), .by = solved.decider}));
      planned.budget = solved.budget;
    }
  }
  if (options.pareto) {
    JOINTER_TRY(now, point_of_step(planned.tagged, kThisPlan, *estimator, memory));
    trade_off->set_now(std::move(now));
    JOINTER_TRY(planned.pareto, curve_of(options, *trade_off));
  }
  return planned;
}

}  // namespace

Result<int> run_step(const SacCommand& options, Graph graph, const CLI::App& command) {
  JOINTER_CHECK(refuse_options(command, {"--partitioner"},
                               fmt::format("applies only to joint graphs and pairs; {} is a flat "
                                           "training step, whose tags are applied as they are",
                                           options.graph.file)));
  JOINTER_CHECK(check_search_options(options, command));
  JOINTER_CHECK(check_order_options(options, graph));
  JOINTER_TRY(std::optional<PlanTarget> target, target_of(options, command));
  const Graph opened = options.needs_opened() ? graph : Graph{};
  const MemoryPolicy fsdp = options.ignore_tags ? MemoryPolicy::none : fsdp_policy(graph);
  AppliedPolicy policy;
  std::optional<PlannedStep> planned;
  Graph asked;  // before the plan's tags are set; only for --why
  if (options.decides() || options.compares()) {
    JOINTER_TRY(policy, options.policy.apply_to(graph, options.ignore_tags));
    if (!options.why.empty()) asked = graph;
    JOINTER_TRY(planned,
                plan_step(options, std::move(graph), fsdp, std::move(target), policy.notes));
    graph = planned->tagged;
    JOINTER_TRY(const std::vector<Edit> edits, apply_step_tags(graph));
    // If no value is tagged for recomputation, selective_activation_remat advises to tag values
    // first. Leave out this note, since the plan recomputes nothing.
    const bool recomputes = std::ranges::any_of(
        graph.order(), [&](NodeId id) { return must_recompute(graph.node(id)); });
    for (const Edit& edit : edits)
      if (recomputes || !edit.changes.empty())
        policy.notes.insert(policy.notes.end(), edit.notes.begin(), edit.notes.end());
  }
  std::optional<OrderAnswer> order;
  if (planned && !planned->order.empty()) {
    JOINTER_TRY(const StepFigures without, step_figures(graph, analysis_options(options)));
    order = OrderAnswer{.passes = planned->order, .without = without.figures};
    JOINTER_TRY(graph,
                in_order(graph, planned->order, built_in_passes(), analysis_options(options)));
  }
  JOINTER_TRY(const std::unique_ptr<Estimator> estimator, options.estimator.make(graph));
  const std::vector<NodeCost> costs = estimate_all(graph, *estimator);
  JOINTER_TRY(const std::vector<SaveCandidate> decided,
              partitioned_values(graph, costs, flops_of(graph)));
  SacAnswer answer = describe_captured(graph, costs, decided, memory_options(options.optimizer));
  answer.order = std::move(order);
  answer.notes = std::move(policy.notes);
  if (answer.figures.saved_bytes > answer.figures.figures.peak_bytes)
    answer.notes.emplace_back(
        "The saved storages add up to more than the peak: forward and backward alternate, as with "
        "a chunked loss, so not all of them are live at the same time.");
  if (planned) {
    const Graph& tagged = planned->tagged;
    answer.limit = std::move(planned->limit);
    answer.target = std::move(planned->target);
    answer.pareto = std::move(planned->pareto);
    const std::vector<StepValue> values = step_values(tagged, graph, decided);
    const StepReasons reasons{tagged, values, policy.tags, planned->chosen, planned->policies};
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
                                                 .budget = planned->budget}};
      JOINTER_TRY(answer.why, explain_step(reasons, compared, options.why));
    }
  }
  if (options.compares())
    JOINTER_CHECK(add_comparison(options, opened, planned->tagged,
                                 plan_rows(graph, decided, planned->tagged), answer));
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

}  // namespace jointer::cli
