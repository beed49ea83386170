// fastest_plan: splits a joint graph according to the fastest plan found within a limit on the
// peak. The search decides together what is saved, recomputed and offloaded. `jointer sac --budget
// 40GiB` searches in the same way, but measures how much communication an order hides, instead of
// assuming the same fraction (`hidden`) in all process groups, and also finds an order for the plan
// (core/policy/ordered_search.cpp).
//
// Steps: core/policy/trade_off.cpp and core/partition/plan_frontier.cpp describe the search. The
// pass adds a decision for every value that the backward reads or recomputes. Its reason is that of
// the search: what recomputing the value frees, and how long that takes (search_reasons.cpp).
//
// Source: Jointer's own. Cost: `effort` evaluations of a plan, and those with which
// the search ends (plan_frontier.cpp).

#include <array>
#include <limits>

#include "core/base/checked.h"
#include "core/base/distinct_bytes.h"
#include "core/base/units.h"
#include "core/cost/node_flops.h"
#include "core/policy/trade_off.h"
#include "core/policy/with_fsdp.h"
#include "passes/sac/partitioners.h"
#include "passes/sac/sac.h"
#include "passes/support/parameters.h"

namespace jointer {
namespace {

Result<Fit> search(const TradeOff& trade_off, std::int64_t limit, double hidden,
                   PassContext& context) {
  JOINTER_TRY(Fit fit, trade_off.fastest_within(limit, HiddenShares(hidden)));
  JOINTER_CHECK(context.report(1));
  if (fit.fits) return fit;
  const auto peaks = distinct_bytes(std::array{limit, fit.point.figures.figures.peak_bytes});
  return fail(Error::Kind::usage,
              "found no plan with a peak of at most {}; the lowest peak found is {}", peaks[0],
              peaks[1]);
}

Result<void> run_fastest_plan(Graph& graph, const Arguments& arguments, PassContext& context) {
  if (graph.is_pair())
    return fail(Error::Kind::usage,
                "the graph is already a forward/backward pair; run the pass on its joint graph");
  std::int64_t limit = std::numeric_limits<std::int64_t>::max();
  if (const auto run_limit = context.peak_limit())
    limit = saturating_whole(static_cast<double>(*run_limit) * arguments.number("share"));
  if (arguments.has_value("peak")) limit = std::min(limit, arguments.integer("peak"));

  JOINTER_TRY(Partition whole, partition(graph));
  JOINTER_TRY(const auto estimator, estimator_for(graph, context.analysis()));
  const std::vector<NodeCost> costs = estimate_all(whole.joint, *estimator);
  const std::vector<Flops> flops = flops_of(whole.joint);
  const TradeOff::Estimates estimates{.costs = costs,
                                      .flops = flops,
                                      .memory = context.analysis().memory,
                                      .simulation = context.analysis().simulation,
                                      .transfers = estimator->transfer_costs()};
  const PlanWhatIf what_if(whole.joint, costs, flops, estimates.memory, estimates.simulation,
                           {.transfers = estimates.transfers});
  JOINTER_TRY(const PlanFigures now, what_if.figures(whole.plan));
  TradeOffOptions options{.now = {.budget = -1, .name = {}, .plan = whole.plan, .figures = now},
                          .fsdp = fsdp_policy(graph),
                          .offload = arguments.boolean("offload"),
                          .effort = static_cast<std::size_t>(arguments.integer("effort"))};
  double done = 0;
  options.partition.watcher.report = [&](double part) { done = part; };
  options.partition.watcher.is_cancelled = [&] { return !context.report(done); };
  JOINTER_TRY(const auto trade_off, TradeOff::make(graph, estimates, std::move(options)));
  JOINTER_TRY(const Fit fit, search(*trade_off, limit, arguments.number("hidden"), context));
  const bool is_limited = limit < std::numeric_limits<std::int64_t>::max();
  JOINTER_TRY(const Partition made,
              trade_off->partition_by(
                  fit.point.plan, is_limited ? fmt::format("the search for a peak of at most {}",
                                                           format_bytes(limit))
                                             : std::string("the search for the shortest step")));
  JOINTER_TRY(Graph pair, emit_pair(made.joint, made.plan));
  decide_by_plan(made, context);
  graph = std::move(pair);
  return {};
}

}  // namespace

Pass fastest_plan_pass() {
  Parameter share =
      number("share", 1.0,
             "Fraction of the run's limit that the plan may use; later passes may need the rest.");
  share.max = 1;
  Parameter hidden = number(
      "hidden", 0.0,
      "Fraction of the collectives' time that later passes are expected to hide behind compute.");
  hidden.max = 1;
  return {.info = {.name = "fastest_plan",
                   .summary = "Splits a joint graph according to the fastest plan found within a "
                              "limit on the peak; the plan may save, recompute and offload values.",
                   .source = "Jointer",
                   .stage = PassStage::partition,
                   .parameters =
                       {bytes("peak", {},
                              "Maximum peak in bytes; none: the run's limit, if there is one."),
                        std::move(share), std::move(hidden),
                        flag("offload", true, "Allow plans that offload values."),
                        count("effort", static_cast<std::int64_t>(PlanFrontier::kEffort), 1,
                              "Number of plans to evaluate before the search stops trying new "
                              "starting points.")}},
          .run = run_fastest_plan};
}

}  // namespace jointer
