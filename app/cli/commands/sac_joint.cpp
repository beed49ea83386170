// `jointer sac` for joint graphs, which a partitioner splits, and for pairs that were joined.

#include <fmt/core.h>

#include "app/cli/commands/figures.h"
#include "app/cli/commands/sac_command.h"
#include "app/cli/commands/sac_limit.h"
#include "app/cli/commands/sac_pair.h"
#include "core/base/bytes.h"
#include "core/capture/native_writer.h"
#include "core/partition/search_reasons.h"
#include "core/pass/pipeline_run.h"
#include "core/policy/checkpoint.h"
#include "core/policy/with_fsdp.h"
#include "passes/built_in.h"
#include "passes/tune/find_order.h"

namespace jointer::cli {
namespace {

// The plan of a pair, with possible reasons for its decisions.
Result<Partition> partition_of_pair(const PairPlan& own, const PlanWhatIf& what_if) {
  Partition partition{.joint = own.joint, .plan = own.plan, .reasons = {}};
  JOINTER_TRY(partition.reasons, search_reasons(what_if, own.plan, {}, "the pair"));
  return partition;
}

// The plan's pair, in the order found for it.
Result<Graph> ordered_pair(const SacCommand& options, const Solved& solved) {
  JOINTER_TRY(const Graph pair,
              emit_pair(solved.partition.joint, solved.partition.plan, solved.partitioner));
  return in_order(pair, solved.order, built_in_passes(), analysis_options(options));
}

// Replaces the estimates of a plan in its own order with those of the plan's pair after reordering.
Result<void> add_order(const SacCommand& options, const std::string& order, const Graph& pair,
                       SacAnswer& answer) {
  answer.order = OrderAnswer{.passes = order, .without = answer.figures.figures};
  JOINTER_TRY(const StepFigures after, step_figures(pair, analysis_options(options)));
  answer.figures.figures = after.figures;
  answer.figures.compute_ns = after.compute_ns;
  answer.reserved_bytes = reserved_peak_bytes(pair, memory_options(options.optimizer));
  return {};
}

// Writes the outputs and returns the exit code. `opened`: the graph before the policy was applied
// to it; the exported policy is for this graph. `pair`: the plan's pair, if it is to be written.
Result<int> finish_answer(const SacCommand& options, const Graph& opened, const Solved& solved,
                          const std::optional<Graph>& pair, SacAnswer answer) {
  const Partition& partition = solved.partition;
  if (!options.format.empty()) {
    JOINTER_TRY(const PolicyFormat format, format_of(options));
    JOINTER_TRY(answer.exported, export_plan(partition.joint, partition.plan, format, opened,
                                             {.partitioner = solved.partitioner,
                                              .memory = memory_options(options.optimizer),
                                              .costs = solved.costs,
                                              .transfers = solved.transfers}));
  }
  if (!options.output.empty()) JOINTER_CHECK(write_bytes(options.output, write_native(*pair)));
  return print_answer(options, partition.joint, answer);
}

// Changes the plan so that the modules of --checkpoint are recomputed. Adds notes for values that
// could not be changed.
Result<void> checkpoint_modules(const SacCommand& options, Solved& solved,
                                std::vector<std::string>& notes) {
  Partition& partition = solved.partition;
  JOINTER_TRY(const auto groups, calls_of_modules(partition.joint, options.checkpointed));
  JOINTER_TRY(const PlanChange change,
              checkpoint(partition.joint, *solved.what_if, partition.plan, groups));
  add_refusals(change, notes);
  solved.is_own = solved.is_own && change.plan == partition.plan;
  return replace_plan(solved, change.plan, "checkpointed with its module", Decider::user);
}

}  // namespace

Result<int> run_joint(const SacCommand& options, Graph graph, const CLI::App& command,
                      const PairPlan* own) {
  JOINTER_TRY(const Budget budget, budget_of(options));
  JOINTER_CHECK(check_search_options(options, command));
  JOINTER_CHECK(check_order_options(options, graph));
  JOINTER_TRY(std::optional<PlanTarget> target, target_of(options, command));
  const Graph opened = options.needs_opened() ? graph : Graph{};
  const MemoryPolicy fsdp = options.ignore_tags ? MemoryPolicy::none : fsdp_policy(graph);
  JOINTER_TRY(AppliedPolicy policy, options.policy.apply_to(graph, options.ignore_tags));
  PartitionOptions partitioning = partition_options(options);
  partitioning.activation_budget = budget.activation;
  if (!budget.peak_bytes && !options.budget.empty() &&
      partitioning.partitioner == Partitioner::default_partition)
    return fail(Error::Kind::usage,
                "option --budget: the partitioner `default` has no activation budget; use "
                "--partitioner min_cut");
  const bool has_own_plan = own != nullptr && !decides_anew(options, command);
  if (has_own_plan) partitioning.partitioner = own->partitioner;
  Partition partition{.joint = graph, .plan = {}, .reasons = {}};
  if (!has_own_plan) {
    JOINTER_TRY(partition, jointer::partition(graph, partitioning));
  }
  JOINTER_TRY(const std::unique_ptr<Estimator> estimator, options.estimator.make(partition.joint));
  const std::vector<NodeCost> costs = estimate_all(partition.joint, *estimator);
  const std::vector<Flops> flops = flops_of(partition.joint);
  const MemoryOptions memory = memory_options(options.optimizer);
  const PlanWhatIf what_if(
      partition.joint, costs, flops, memory, {},
      {.transfers = estimator->transfer_costs(), .partitioner = partitioning.partitioner});
  if (has_own_plan) {
    JOINTER_TRY(partition, partition_of_pair(*own, what_if));
  }
  Solved solved{.partition = partition,
                .what_if = &what_if,
                .partitioner = partitioning.partitioner,
                .decider = has_own_plan ? Decider::capture : Decider::partitioner,
                .changed_by = {},
                .budget = budget.activation < 1 ? std::optional(budget.activation) : std::nullopt,
                .found_as = {},
                .policies = policies_of(graph),
                .costs = costs,
                .transfers = estimator->transfer_costs()};
  if (has_own_plan) {
    solved.own = own->point;
    solved.is_own = true;
  }
  if (own != nullptr)
    policy.notes.insert(policy.notes.begin(), own->notes.begin(), own->notes.end());

  if (!options.checkpointed.empty())
    JOINTER_CHECK(checkpoint_modules(options, solved, policy.notes));
  std::optional<TargetAnswer> met;
  if (target) {
    target->peak_bytes = budget.peak_bytes.value_or(0);
    if (!options.target.free.empty()) {
      JOINTER_TRY(const PlanFigures now, what_if.figures(solved.partition.plan));
      JOINTER_TRY(const std::int64_t bytes, options.target.free_bytes());
      target->peak_bytes = now.figures.peak_bytes - bytes;
    }
    JOINTER_TRY(met, meet_target(options, *target, solved));
  }
  std::unique_ptr<TradeOff> trade_off;
  if (budget.peak_bytes || options.slower || options.pareto || met) {
    JOINTER_TRY(ParetoPoint now, point_of(solved));
    const TradeOff::Estimates estimates{
        .costs = costs, .flops = flops, .memory = memory, .transfers = estimator->transfer_costs()};
    JOINTER_TRY(trade_off,
                TradeOff::make(graph, estimates,
                               trade_off_options(options, std::move(now), fsdp, bool(met))));
  }
  std::optional<LimitAnswer> limit;
  if (met) {
    JOINTER_TRY(limit, compare_with_best(options, *trade_off, solved.partitioner, *met));
  } else if (budget.peak_bytes || options.slower) {
    JOINTER_TRY(limit, meet_limit(options, budget, *trade_off, solved));
  }
  JOINTER_TRY(SacAnswer answer, describe_plan(solved.partition.joint, solved.partition.plan,
                                              solved.partition.reasons, *solved.what_if));
  std::optional<Graph> pair;
  if (solved.is_as_opened()) {
    answer.figures = solved.own->figures;
    answer.reserved_bytes = solved.own->reserved_bytes.value_or(answer.reserved_bytes);
    pair = own->pair;
    if (limit) policy.notes.emplace_back("No better plan was found; the pair is shown as it is.");
  } else if (!solved.order.empty() || !options.output.empty()) {
    JOINTER_TRY(pair, ordered_pair(options, solved));
  }
  if (!solved.order.empty()) JOINTER_CHECK(add_order(options, solved.order, *pair, answer));
  answer.limit = limit;
  answer.target = std::move(met);
  answer.notes = std::move(policy.notes);
  if (options.pareto) {
    JOINTER_TRY(ParetoPoint now, point_of(solved));
    trade_off->set_now(std::move(now));
    JOINTER_TRY(answer.pareto, curve_of(options, *trade_off));
  }
  const ComparedPlan compared{.graph = solved.partition.joint,
                              .what_if = *solved.what_if,
                              .comparison = {.plan = solved.partition.plan,
                                             .partition = partition_options(options),
                                             .budget = solved.budget,
                                             .policies = solved.policies}};
  JOINTER_TRY(answer.why, explain_values({.plan = compared,
                                          .reasons = solved.partition.reasons,
                                          .decider = solved.decider,
                                          .changed_by = solved.changed_by,
                                          .tags = std::move(policy.tags)},
                                         options.why));
  if (options.compares()) {
    JOINTER_TRY(std::vector<PlanRow> rows, plan_rows(*solved.what_if, solved.partition.plan));
    const Graph& captured = own != nullptr && options.against_tags ? own->pair : opened;
    JOINTER_CHECK(
        add_comparison(options, captured, solved.partition.joint, std::move(rows), answer));
  }
  return finish_answer(options, opened, solved, pair, std::move(answer));
}

}  // namespace jointer::cli
