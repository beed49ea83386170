// Trades peak memory against step time.
//
// A sweep over activation budgets (budget_sweep.cpp) adds points to the given ones. The points that
// no other point beats in both figures remain.
//
// For a limit on the peak, the search starts from the fastest point that fits, the smallest that
// does not, the fastest of all, and every given point. A point that does not fit is made smaller by
// recomputing more, until it fits; a point that fits is made faster by saving more, as long as it
// fits (plan_tuning.cpp). The fastest result wins; among equal ones the smaller. For a limit on the
// step time, the two figures are exchanged.
//
// Source: visualize_memory_budget_pareto of torch 2.11's choose_saved_values_set. The tuning is
// Jointer's.

#include "core/partition/pareto.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include "core/partition/budget_sweep.h"
#include "core/partition/plan_tuning.h"

namespace jointer {
namespace {

constexpr double kSwept = 0.9;  // progress of a search after the sweep

const Figures& figures(const ParetoPoint& point) {
  return point.figures.figures;
}

// The figure that is limited, the figure to minimize, and how to trade one for the other.
struct Goal {
  std::int64_t Figures::*limited;
  std::int64_t Figures::*small;
  std::int64_t limit = 0;
  TunedPlan (PlanTuning::*toward_limit)(TunedPlan, const PlanTuning::Holds&) const;
  TunedPlan (PlanTuning::*up_to_limit)(TunedPlan, const PlanTuning::Holds&) const;
};

class Search {
 public:
  Search(const Graph& joint, const Goal& goal, const PlanWhatIf& what_if,
         const ParetoRequest& request)
      : goal_(goal), request_(request), what_if_(what_if), tuning_(joint, what_if, [this] {
          cancelled_ = cancelled_ || !request_.partition.watcher.at(kSwept);
          return !cancelled_;
        }) {}

  Fit run(const std::vector<ParetoPoint>& points, bool cancelled) {
    cancelled_ = cancelled;
    for (const ParetoPoint& point : points) consider(point);
    for (const ParetoPoint& start : starts(points))
      if (!cancelled_) tune(start);
    return {*best_, fits(best_)};
  }

 private:
  [[nodiscard]] bool holds(const Figures& f) const { return f.*goal_.limited <= goal_.limit; }
  [[nodiscard]] bool fits(const std::optional<ParetoPoint>& point) const {
    return point && holds(figures(*point));
  }

  // Points that fit come first, ordered by the figure to minimize; then the others, by their
  // distance from the limit.
  [[nodiscard]] bool better(const ParetoPoint& a, const ParetoPoint& b) const {
    const auto key = [&](const ParetoPoint& p) {
      const Figures& f = figures(p);
      const bool over = !holds(f);
      return std::tuple(over, over ? f.*goal_.limited : f.*goal_.small,
                        over ? f.*goal_.small : f.*goal_.limited);
    };
    return key(a) < key(b);
  }
  void consider(const ParetoPoint& point) {
    if (!best_ || better(point, *best_)) best_ = point;
  }

  // The plans to start tuning from, each once.
  [[nodiscard]] std::vector<ParetoPoint> starts(const std::vector<ParetoPoint>& points) const {
    std::vector<ParetoPoint> found;
    const auto add = [&](const ParetoPoint& point) {
      if (std::none_of(found.begin(), found.end(),
                       [&](const ParetoPoint& other) { return other.plan == point.plan; }))
        found.push_back(point);
    };
    if (fits(best_)) add(*best_);
    const ParetoPoint* nearest = nullptr;
    const ParetoPoint* furthest = &points.front();
    for (const ParetoPoint& point : points) {
      const Figures& f = figures(point);
      if (!holds(f) && (nearest == nullptr || f.*goal_.limited < figures(*nearest).*goal_.limited))
        nearest = &point;
      if (f.*goal_.small < figures(*furthest).*goal_.small) furthest = &point;
    }
    if (nearest != nullptr) add(*nearest);
    add(*furthest);
    for (const ParetoPoint& point : points)
      if (point.budget < 0) add(point);
    return found;
  }

  void tune(const ParetoPoint& from) {
    const auto allowed = [this](const Figures& f) { return holds(f); };
    TunedPlan tuned{from.plan, from.figures};
    if (from.partitioner != Partitioner::min_cut) {
      const auto figures = what_if_.figures(from.plan);
      if (!figures) return;
      tuned.figures = *figures;
    }
    if (!holds(tuned.figures.figures)) {
      tuned = (tuning_.*goal_.toward_limit)(std::move(tuned), allowed);
      found(tuned);
      if (!holds(tuned.figures.figures)) return;
    }
    found((tuning_.*goal_.up_to_limit)(std::move(tuned), allowed));
  }

  void found(const TunedPlan& tuned) {
    const ParetoPoint point{.budget = -1, .name = {}, .plan = tuned.plan, .figures = tuned.figures};
    consider(point);
    if (request_.found && !request_.found(point)) cancelled_ = true;
  }

  const Goal& goal_;
  const ParetoRequest& request_;
  const PlanWhatIf& what_if_;
  bool cancelled_ = false;
  PlanTuning tuning_;
  std::optional<ParetoPoint> best_;
};

Result<Fit> search(const Graph& joint, const PlanWhatIf& what_if, const Goal& goal,
                   const ParetoRequest& request) {
  JOINTER_TRY(const auto sweep, BudgetSweep::make(joint, what_if, request));
  JOINTER_CHECK(sweep->run());
  if (sweep->points().empty()) return fail(Error::Kind::cancelled, "it was cancelled");
  return Search(joint, goal, what_if, request).run(sweep->points(), sweep->is_cancelled());
}

}  // namespace

Result<std::vector<ParetoPoint>> pareto(const Graph& joint, const PlanWhatIf& what_if,
                                        const ParetoRequest& request) {
  JOINTER_TRY(const auto sweep, BudgetSweep::make(joint, what_if, request));
  JOINTER_CHECK(sweep->run());
  if (sweep->points().empty()) return fail(Error::Kind::cancelled, "it was cancelled");
  return pareto_front(sweep->points());
}

Result<Fit> fastest_within(const Graph& joint, const PlanWhatIf& what_if, std::int64_t peak_bytes,
                           const ParetoRequest& request) {
  const Goal goal{.limited = &Figures::peak_bytes,
                  .small = &Figures::step_ns,
                  .limit = peak_bytes,
                  .toward_limit = &PlanTuning::lower_peak_until,
                  .up_to_limit = &PlanTuning::speed_up_while};
  return search(joint, what_if, goal, request);
}

Result<Fit> smallest_within(const Graph& joint, const PlanWhatIf& what_if, std::int64_t step_ns,
                            const ParetoRequest& request) {
  const Goal goal{.limited = &Figures::step_ns,
                  .small = &Figures::peak_bytes,
                  .limit = step_ns,
                  .toward_limit = &PlanTuning::speed_up_until,
                  .up_to_limit = &PlanTuning::lower_peak_while};
  return search(joint, what_if, goal, request);
}

}  // namespace jointer
