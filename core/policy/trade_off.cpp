// Sets up the search for save plans, for both the command line and the window.
//
//   - The search runs on the graph as min_cut_partition sees it, with the tags in effect: budgets
//     are those of min_cut_partition, which also partitions a chosen point.
//   - Every plan is therefore judged by the pair that min_cut_partition makes, except a current
//     plan of another partitioner, which keeps the estimates of the pair that the user sees.
//   - "Slower" means, by default, slower than the current plan, whose step time the user sees
//     before starting a search, not slower than the joint graph, whose step time no pair may reach.
//   - A search begins with the current plan, with the plans that earlier searches found, and with
//     upstream's presets, each solved by min_cut_partition under its tags. If the user has set a
//     policy, searches within a limit leave out the presets, which have other tags; the curve still
//     shows them for comparison.
//
// A flat training step has no partitioner: its plans are judged by the step that results from their
// tags (core/partition/flat_order.h), step_budget.cpp defines budgets, and presets are applied as
// by upstream's passes.

#include "core/policy/trade_off.h"

#include <utility>

#include "core/base/checked.h"
#include "core/edit/edit.h"
#include "core/partition/cut_preparation.h"
#include "core/partition/plan_rules.h"
#include "core/partition/plan_tuning.h"
#include "core/partition/random_states.h"
#include "core/partition/search_reasons.h"
#include "core/policy/apply_step_tags.h"
#include "core/policy/with_fsdp.h"

namespace jointer {
namespace {

constexpr double kPercent = 100;

// Removes from a plan, which was made after a different clean-up, the nodes that the clean-up of
// this graph erased.
void keep_live(const Graph& joint, SavePlan& plan) {
  for (auto* ids : {&plan.saved, &plan.saved_symbols, &plan.offloaded, &plan.redrawn})
    std::erase_if(*ids, [&](NodeId id) { return !joint.is_live(id); });
}

bool is_flat(const Graph& graph) {
  return graph.part(PartId(0)).kind == CaptureKind::train_step;
}

// The plan that results from a graph's tags.
Result<SavePlan> plan_of_tags(const Graph& tagged) {
  if (is_flat(tagged)) {
    Graph step = tagged;
    JOINTER_CHECK(apply_step_tags(step));
    return plan_of_step(tagged, step);
  }
  JOINTER_TRY(Partition solved, jointer::partition(tagged));
  solved.plan.redrawn = tagged_to_redraw(solved.joint);
  return std::move(solved.plan);
}

}  // namespace

Result<std::unique_ptr<TradeOff>> TradeOff::make(const Graph& graph, const Estimates& estimates,
                                                 TradeOffOptions options) {
  options.partition.partitioner = Partitioner::min_cut;
  options.partition.activation_budget = PartitionOptions().activation_budget;
  JOINTER_TRY(Partition solved, partition_of(graph, options));
  std::unique_ptr<TradeOff> made(new TradeOff(std::move(solved), estimates, std::move(options)));
  made->what_if_ = made->what_if_for(estimates.costs);
  made->set_now(std::move(made->options_.now));
  made->find_presets(graph);
  if (made->options_.has_policy) made->policies_ = policies_of(graph);
  return made;
}

Result<Partition> TradeOff::partition_of(const Graph& graph, const TradeOffOptions& options) {
  if (!is_flat(graph)) return jointer::partition(graph, options.partition);
  Partition step{.joint = graph,
                 .plan = options.now.plan,
                 .reasons = std::vector<PlanReason>(graph.node_count())};
  if (options.partition.ignore_tags) drop_tags(step.joint);
  return step;
}

void TradeOff::set_now(ParetoPoint now) {
  keep_live(partition_.joint, now.plan);
  options_.now = std::move(now);
}

void TradeOff::find_presets(const Graph& graph) {
  for (const std::string& name : upstream_presets()) {
    if (!options_.partition.watcher.at(0)) return;
    Graph tagged = graph;
    const auto edit = preset_with_fsdp(tagged, name, options_.fsdp);
    if (!edit || !apply(tagged, *edit)) continue;
    auto plan = plan_of_tags(tagged);
    if (!plan) continue;
    keep_live(partition_.joint, *plan);
    const auto figures = what_if_->figures(*plan);
    if (figures)
      presets_.push_back(
          {.budget = -1, .name = name, .plan = *std::move(plan), .figures = *figures});
  }
}

// With hidden shares, estimates are too rough for the changes that an exhaustive search finds.
ParetoRequest TradeOff::request(bool with_presets, const HiddenShares& hidden) const {
  ParetoRequest request{.partition = options_.partition,
                        .given = {options_.now},
                        .max_budgets = options_.max_budgets,
                        .policies = policies_,
                        .offload = options_.offload,
                        .memory = options_.memory,
                        .effort = options_.effort,
                        .exhaustive = hidden.hides_nothing(),
                        .found = options_.found};
  // The joint graph already has the tags in effect.
  request.partition.ignore_tags = false;
  for (const ParetoPoint& point : options_.known) {
    request.given.push_back(point);
    request.given.back().order.clear();  // the search judges plans in their own order
  }
  if (with_presets) request.given.insert(request.given.end(), presets_.begin(), presets_.end());
  return request;
}

std::unique_ptr<PlanWhatIf> TradeOff::what_if_for(std::span<const NodeCost> costs) const {
  return std::make_unique<PlanWhatIf>(
      partition_.joint, costs, estimates_.flops, estimates_.memory, estimates_.simulation,
      PlanWhatIfOptions{.transfers = estimates_.transfers, .partitioner = Partitioner::min_cut});
}

// Calls `search` with a PlanWhatIf in which the hidden communication takes no time.
template <class Search>
auto TradeOff::with_hidden(const HiddenShares& hidden, const Search& search) const {
  if (hidden.hides_nothing()) return search(*what_if_);
  const std::vector<NodeCost> costs =
      with_hidden_communication(partition_.joint, estimates_.costs, hidden);
  return search(*what_if_for(costs));
}

// Replaces the estimates from a search with hidden shares by estimates without them. Points from
// other partitioners keep their estimates, which are those of their pairs.
Result<void> TradeOff::restore_figures(ParetoPoint& point) const {
  if (point.partitioner != Partitioner::min_cut) return {};
  JOINTER_TRY(point.figures, what_if_->figures(point.plan));
  point.bound_ns = 0;
  return {};
}

Result<ParetoCurve> TradeOff::curve(const HiddenShares& hidden) const {
  return with_hidden(hidden, [&](const PlanWhatIf& what_if) -> Result<ParetoCurve> {
    ParetoRequest asked = request(true, hidden);
    // The points that are shown during the search have the same estimates as in the end.
    if (asked.found && !hidden.hides_nothing())
      asked.found = [this](ParetoPoint point) {
        return !restore_figures(point) || options_.found(point);
      };
    JOINTER_TRY(ParetoCurve curve, pareto(partition_.joint, what_if, asked));
    if (hidden.hides_nothing()) return curve;
    for (auto* points : {&curve.points, &curve.budgets})
      for (ParetoPoint& point : *points) JOINTER_CHECK(restore_figures(point));
    return curve;
  });
}

Result<Fit> TradeOff::fastest_within(std::int64_t peak_bytes, const HiddenShares& hidden) const {
  return with_hidden(hidden, [&](const PlanWhatIf& what_if) -> Result<Fit> {
    JOINTER_TRY(Fit fit, jointer::fastest_within(partition_.joint, what_if, peak_bytes,
                                                 request(!options_.has_policy, hidden)));
    if (hidden.hides_nothing()) return fit;
    JOINTER_CHECK(restore_figures(fit.point));
    fit.bound_ns = 0;
    return fit;
  });
}

Result<ParetoPoint> TradeOff::with_more_saved(const SavePlan& plan, std::int64_t bytes,
                                              const HiddenShares& hidden) const {
  return with_hidden(hidden, [&](const PlanWhatIf& what_if) -> Result<ParetoPoint> {
    JOINTER_TRY(const PlanFigures figures, what_if.figures(plan));
    const std::int64_t highest = saturating_add(figures.figures.peak_bytes, bytes);
    const PlanRules rules(what_if, policies_, options_.offload);
    const auto& is_cancelled = options_.partition.watcher.is_cancelled;
    const auto evaluate = [&](SavePlan changed) -> std::optional<Result<EvaluatedPlan>> {
      if (is_cancelled && is_cancelled()) return std::nullopt;
      auto judged = what_if.figures(changed);
      if (!judged) return tl::unexpected(judged.error());
      return EvaluatedPlan{std::move(changed), *judged};
    };
    PlanTuning tuning(what_if, {.rules = rules, .evaluate = evaluate});
    EvaluatedPlan more =
        tuning.lower_while({plan, figures}, &Figures::step_ns,
                           [&](const Figures& f) { return f.peak_bytes <= highest; });
    ParetoPoint point{
        .budget = -1, .name = {}, .plan = std::move(more.plan), .figures = more.figures};
    JOINTER_CHECK(restore_figures(point));
    return point;
  });
}

std::int64_t TradeOff::longest_step(double percent) const {
  const std::int64_t reference =
      options_.reference_ns > 0 ? options_.reference_ns : options_.now.figures.figures.step_ns;
  return saturating_whole(static_cast<double>(reference) * (1 + percent / kPercent));
}

Result<Fit> TradeOff::smallest_within(double percent) const {
  return smallest_within_step(longest_step(percent), {});
}

Result<Fit> TradeOff::smallest_within_step(std::int64_t step_ns, const HiddenShares& hidden) const {
  return with_hidden(hidden, [&](const PlanWhatIf& what_if) -> Result<Fit> {
    JOINTER_TRY(Fit fit, jointer::smallest_within(partition_.joint, what_if, step_ns,
                                                  request(!options_.has_policy, hidden)));
    if (!hidden.hides_nothing()) JOINTER_CHECK(restore_figures(fit.point));
    return fit;
  });
}

Result<OrderBound> TradeOff::order_bound() const {
  return OrderBound::make(partition_.joint, estimates_.costs,
                          [&](std::span<const NodeCost> costs) { return what_if_for(costs); },
                          {.policies = policies_, .offload = options_.offload, .go_on = [this] {
                             const auto& is_cancelled = options_.partition.watcher.is_cancelled;
                             return !is_cancelled || !is_cancelled();
                           }});
}

Result<Graph> TradeOff::graph_of(const SavePlan& plan) const {
  if (!is_flat(partition_.joint)) return emit_pair(partition_.joint, plan);
  return step_of_plan(partition_.joint, plan);
}

Result<Partition> TradeOff::partition_by(const SavePlan& plan, const std::string& found_by) const {
  Partition made = partition_;
  made.plan = plan;
  JOINTER_TRY(made.reasons, search_reasons(*what_if_, plan, policies_, found_by));
  return made;
}

}  // namespace jointer
