// Trades peak memory against step time.
//
// A sweep over activation budgets (budget_sweep.cpp) adds points to the given ones. They are where
// the search for the best plans starts (plan_frontier.cpp), so its answers are at least as good as
// each of them.
//
// The curve is the result of ten searches: for the lowest peak, for the shortest step, and for
// peaks at equal distances in between. It shows the plans that they found on the way, as far as
// they are apart, and the given and swept points that nothing beats.
//
// Source: visualize_memory_budget_pareto of torch 2.11's choose_saved_values_set. The search is
// Jointer's. Deviation: torch's curve shows its budgets, and is not monotone where the bytes of
// saved tensors do not determine the peak; this one is.

#include "core/partition/pareto.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "core/partition/budget_sweep.h"

namespace jointer {
namespace {

constexpr std::size_t kLimits = 10;      // searches for the curve
constexpr std::int64_t kIntervals = 64;  // of peaks; the curve shows one plan found in each

const Figures& figures(const ParetoPoint& point) {
  return point.figures.figures;
}

class Search {
 public:
  static Result<std::unique_ptr<Search>> make(const Graph& joint, const PlanWhatIf& what_if,
                                              const ParetoRequest& request, std::size_t limits) {
    JOINTER_TRY(const auto sweep, BudgetSweep::make(joint, what_if, request));
    JOINTER_CHECK(sweep->run());
    if (sweep->points().empty()) return fail(Error::Kind::cancelled, "it was cancelled");
    std::unique_ptr<Search> search(new Search(request, limits, sweep->points()));
    search->cancelled_ = sweep->is_cancelled();
    JOINTER_TRY(search->frontier_,
                PlanFrontier::make(joint, what_if,
                                   {.policies = request.policies,
                                    .offload = request.offload,
                                    .effort = request.effort,
                                    .go_on = [s = search.get()] { return s->go_on(); }}));
    for (const ParetoPoint& point : search->known_) {
      TunedPlan plan{point.plan, point.figures};
      if (point.partitioner != Partitioner::min_cut) {
        const auto figures = what_if.figures(point.plan);
        if (!figures) continue;
        plan.figures = *figures;
      }
      search->frontier_->add(plan);
    }
    return search;
  }

  Fit best(const PlanLimit& limit) {
    ParetoPoint nearest = known_.front();
    for (const ParetoPoint& point : known_)
      if (limit.is_better(figures(point), figures(nearest))) nearest = point;
    if (!cancelled_)
      if (const auto found = frontier_->best(limit);
          found && limit.is_better(found->figures.figures, figures(nearest)))
        nearest = point_of(*found);
    if (!cancelled_ && request_.found && !request_.found(nearest)) cancelled_ = true;
    return {.point = nearest, .fits = limit.holds(figures(nearest))};
  }

  ParetoCurve curve() {
    const Fit smallest = best(PlanLimit::of_peak(0));
    const Fit fastest = best(PlanLimit::of_step(0));
    const std::int64_t low = figures(smallest.point).peak_bytes;
    const std::int64_t high = figures(fastest.point).peak_bytes;
    for (std::size_t i = 1; i + 1 < kLimits && high > low && !cancelled_; ++i)
      (void)best(PlanLimit::of_peak(low + (high - low) / static_cast<std::int64_t>(kLimits - 1) *
                                              static_cast<std::int64_t>(i)));
    std::vector<ParetoPoint> points = known_;
    const std::vector<TunedPlan> found = frontier_->points();
    const std::int64_t interval = std::max<std::int64_t>((high - low) / kIntervals, 1);
    for (std::size_t i = 0; i < found.size(); ++i) {
      const std::int64_t peak = found[i].figures.figures.peak_bytes;
      // The last in its interval is the fastest.
      const bool is_last =
          i + 1 == found.size() ||
          (found[i + 1].figures.figures.peak_bytes - low) / interval != (peak - low) / interval;
      if (i == 0 || is_last) points.push_back(point_of(found[i]));
    }
    points = pareto_front(std::move(points));
    for (ParetoPoint& point : points) point.bound_ns = bound(point);
    std::vector<ParetoPoint> budgets;
    std::ranges::copy_if(known_, std::back_inserter(budgets),
                         [](const ParetoPoint& point) { return point.budget >= 0; });
    return {.points = std::move(points), .budgets = pareto_front(std::move(budgets))};
  }

  [[nodiscard]] std::int64_t bound(const ParetoPoint& point) const {
    return std::min(frontier_->bound_ns(figures(point).peak_bytes), figures(point).step_ns);
  }

 private:
  Search(const ParetoRequest& request, std::size_t limits, std::vector<ParetoPoint> known)
      : request_(request), limits_(limits), known_(std::move(known)) {}

  // The given or swept point with this plan, or a new one.
  [[nodiscard]] ParetoPoint point_of(const TunedPlan& plan) const {
    const auto same = std::ranges::find_if(known_, [&](const ParetoPoint& point) {
      return point.partitioner == Partitioner::min_cut && point.plan == plan.plan;
    });
    if (same != known_.end()) return *same;
    return {.budget = -1, .name = {}, .plan = plan.plan, .figures = plan.figures};
  }
  bool go_on() {
    const auto all = static_cast<double>(limits_ * std::max<std::size_t>(request_.effort, 1));
    const double done = std::min(1.0, static_cast<double>(++evaluated_) / all);
    cancelled_ = cancelled_ || !request_.partition.watcher.at(BudgetSweep::kSwept +
                                                              (1 - BudgetSweep::kSwept) * done);
    return !cancelled_;
  }

  const ParetoRequest& request_;
  std::size_t limits_;
  std::vector<ParetoPoint> known_;
  std::unique_ptr<PlanFrontier> frontier_;
  std::size_t evaluated_ = 0;
  bool cancelled_ = false;
};

Result<Fit> search(const Graph& joint, const PlanWhatIf& what_if, const PlanLimit& limit,
                   const ParetoRequest& request) {
  JOINTER_TRY(const auto search, Search::make(joint, what_if, request, 1));
  Fit fit = search->best(limit);
  fit.point.bound_ns = search->bound(fit.point);
  return fit;
}

}  // namespace

Result<ParetoCurve> pareto(const Graph& joint, const PlanWhatIf& what_if,
                           const ParetoRequest& request) {
  JOINTER_TRY(const auto search, Search::make(joint, what_if, request, kLimits));
  return search->curve();
}

Result<Fit> fastest_within(const Graph& joint, const PlanWhatIf& what_if, std::int64_t peak_bytes,
                           const ParetoRequest& request) {
  return search(joint, what_if, PlanLimit::of_peak(peak_bytes), request);
}

Result<Fit> smallest_within(const Graph& joint, const PlanWhatIf& what_if, std::int64_t step_ns,
                            const ParetoRequest& request) {
  return search(joint, what_if, PlanLimit::of_step(step_ns), request);
}

}  // namespace jointer
