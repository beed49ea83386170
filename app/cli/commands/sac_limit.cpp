#include "app/cli/commands/sac_limit.h"

#include <fmt/core.h>

#include <cstdint>

#include "core/base/units.h"

namespace jointer::cli {
namespace {

// Replaces the current plan with the plan found for a limit. If they are the same, sets only the
// order. `limit`: "a peak of at most 40GiB".
Result<void> adopt_plan(Solved& solved, const TradeOff& trade_off, const Fit& fit,
                        const std::string& limit) {
  const ParetoPoint& point = fit.point;
  if (point.name == kThisPlan) {
    solved.order = point.order;
    return {};
  }
  const bool is_budget = point.budget >= 0, is_preset = !is_budget && !point.name.empty();
  const std::string found_as = is_budget   ? fmt::format("torch's budget {}", point.budget)
                               : is_preset ? fmt::format("the preset {}", point.name)
                                           : std::string();
  const std::string found_by = found_as.empty()
                                   ? fmt::format("the search for {}", limit)
                                   : fmt::format("{}, chosen for {},", found_as, limit);
  JOINTER_TRY(Partition partition, trade_off.partition_by(point.plan, found_by));
  solved = {.partition = std::move(partition),
            .what_if = &trade_off.what_if(),
            .partitioner = Partitioner::min_cut,
            .decider = is_budget   ? Decider::partitioner
                       : is_preset ? Decider::preset
                                   : Decider::search,
            .changed_by = {},
            .budget = is_budget ? std::optional(point.budget) : std::nullopt,
            .found_as = found_as,
            .policies = trade_off.policies(),
            .costs = solved.costs,
            .transfers = solved.transfers,
            .order = point.order,
            .own = std::move(solved.own)};
  return {};
}

// Replaces the plan found with the pair's own plan if that plan meets the limit better. A search
// chooses plans before it orders them, so it may miss a pair that is already in a good order. With
// --no-offload, a pair that offloads a value without a tag that demands it is not considered.
void keep_own_if_better(const SacCommand& options, const Solved& solved, const TradeOff& trade_off,
                        const PlanLimit& limit, Fit& fit) {
  if (!solved.own) return;
  if (options.no_offload &&
      !offloads_only_on_demand(solved.own->plan, trade_off.partition().joint, trade_off.policies()))
    return;
  const auto counted = [&](const ParetoPoint& point) {
    Figures figures = point.figures.figures;
    figures.peak_bytes = bytes_of(point, memory_of(options)).value_or(figures.peak_bytes);
    return figures;
  };
  const Figures own = counted(*solved.own);
  if (!limit.is_better(own, counted(fit.point))) return;
  const std::int64_t bound_ns = fit.point.bound_ns;
  fit.point = *solved.own;
  fit.point.bound_ns = std::min(bound_ns, own.step_ns);
  fit.fits = limit.holds(own);
}

}  // namespace

TradeOffOptions trade_off_options(const SacCommand& options, ParetoPoint now, MemoryPolicy fsdp,
                                  bool has_target) {
  return {.partition = partition_options(options),
          .now = std::move(now),
          .fsdp = fsdp,
          .has_policy = options.policy.any(),
          .offload = has_target || !options.no_offload,
          .memory = memory_of(options),
          .max_budgets = options.points,
          .effort = options.effort};
}

Result<LimitAnswer> meet_limit(const SacCommand& options, const Budget& budget,
                               const TradeOff& trade_off, Solved& solved) {
  const FindOrder find_order = find_order_of(options, trade_off.partition().joint);
  if (!options.slower) {
    const std::int64_t limit = budget.peak_bytes.value_or(0);
    JOINTER_TRY(Fit fit, fastest_ordered(trade_off, limit, find_order));
    keep_own_if_better(options, solved, trade_off, PlanLimit::of_peak(limit), fit);
    JOINTER_CHECK(
        adopt_plan(solved, trade_off, fit, fmt::format("a peak of at most {}", options.budget)));
    return LimitAnswer{.kind = "peak",
                       .memory = options.limit_of,
                       .asked = limit,
                       .reached = bytes_of(fit.point, memory_of(options)).value_or(0),
                       .met = fit.fits,
                       .bound_ns = fit.point.bound_ns,
                       .is_of_any_order = bool(find_order)};
  }
  JOINTER_TRY(Fit fit, smallest_ordered(trade_off, *options.slower, find_order));
  keep_own_if_better(options, solved, trade_off,
                     PlanLimit::of_step(trade_off.longest_step(*options.slower)), fit);
  JOINTER_CHECK(adopt_plan(solved, trade_off, fit,
                           fmt::format("a step at most {}% slower", *options.slower)));
  return LimitAnswer{.kind = "step",
                     .memory = options.limit_of,
                     .asked = trade_off.longest_step(*options.slower),
                     .reached = fit.point.figures.figures.step_ns,
                     .met = fit.fits,
                     .bound_ns = fit.point.bound_ns,
                     .is_of_any_order = bool(find_order)};
}

Result<ParetoCurve> curve_of(const SacCommand& options, const TradeOff& trade_off) {
  return ordered_curve(trade_off, find_order_of(options, trade_off.partition().joint));
}

Result<void> replace_plan(Solved& solved, const SavePlan& plan, const std::string& why,
                          Decider by) {
  Partition& partition = solved.partition;
  enum class Decision : std::uint8_t { none, save, offload, recompute };
  const auto decisions = [&](const SavePlan& of) -> Result<std::vector<Decision>> {
    JOINTER_TRY(const PlanWhatIf::Outcome outcome, solved.what_if->evaluate(of));
    JOINTER_TRY(const auto candidates, solved.what_if->candidates(of));
    std::vector<Decision> by_node(partition.joint.node_count(), Decision::none);
    for (const auto& each : outcome.recomputed) by_node[each.node.index()] = Decision::recompute;
    // Also parts of tuples, which are not calls that run again.
    for (const SaveCandidate& each : candidates)
      if (each.action == PlanAction::recompute) by_node[each.node.index()] = Decision::recompute;
    for (const NodeId id : of.saved) by_node[id.index()] = Decision::save;
    for (const NodeId id : of.offloaded) by_node[id.index()] = Decision::offload;
    return by_node;
  };
  JOINTER_TRY(const std::vector<Decision> before, decisions(partition.plan));
  JOINTER_TRY(const std::vector<Decision> after, decisions(plan));
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (before[i] == after[i] || partition.joint.node(NodeId(i)).kind != NodeKind::call) continue;
    solved.changed_by[NodeId(i)] = by;
    partition.reasons[i] =
        after[i] == Decision::none ? PlanReason{} : PlanReason{PlanReason::Kind::searched, {}, why};
  }
  partition.plan = plan;
  return {};
}

Result<TargetAnswer> meet_target(const SacCommand& options, PlanTarget target, Solved& solved) {
  JOINTER_TRY(ChangeList list,
              find_changes(solved.partition.joint, *solved.what_if, solved.partition.plan, target));
  solved.is_own = solved.is_own && list.plan == solved.partition.plan;
  JOINTER_CHECK(
      replace_plan(solved, list.plan,
                   fmt::format("changed for a peak of at most {}", format_bytes(target.peak_bytes)),
                   Decider::search));
  const Graph& joint = solved.partition.joint;
  const auto make_pair = [&] { return emit_pair(joint, list.plan, solved.partitioner); };
  JOINTER_TRY(PlanOrder order,
              order_of_list(list, target, make_pair, find_order_of(options, joint)));
  solved.order = order.passes;
  return TargetAnswer{
      .target = std::move(target), .list = std::move(list), .order = std::move(order), .best = {}};
}

Result<LimitAnswer> compare_with_best(const SacCommand& options, const TradeOff& trade_off,
                                      Partitioner partitioner, TargetAnswer& answer) {
  const FindOrder find_order = find_order_of(options, trade_off.partition().joint);
  JOINTER_TRY(answer.best,
              best_for_target(trade_off, answer.target,
                              point_of_list(answer.list, answer.order, partitioner), find_order));
  return LimitAnswer{.kind = "peak",
                     .memory = std::string(to_string(LimitedMemory::allocated)),
                     .asked = answer.target.peak_bytes,
                     .reached = answer.order.figures.peak_bytes,
                     .met = answer.is_reached(),
                     .is_of_any_order = bool(find_order)};
}

Result<ParetoPoint> point_of(const Solved& solved) {
  if (solved.is_as_opened()) return *solved.own;
  JOINTER_TRY(PlanFigures figures, solved.what_if->figures(solved.partition.plan));
  return ParetoPoint{.budget = -1,
                     .name = kThisPlan,
                     .plan = solved.partition.plan,
                     .figures = figures,
                     .partitioner = solved.partitioner};
}

}  // namespace jointer::cli
