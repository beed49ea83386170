// Trades peak memory against step time.
//
// A sweep over activation budgets (budget_sweep.cpp) adds points to the given ones. The search for
// the best plans starts from all of these (plan_frontier.cpp), so its answers are at least as good
// as each of them. If plans may not offload, given plans that offload are left out, unless tags or
// policies demand that.
//
// The curve is the result of ten searches: for the lowest peak, for the shortest step, and for
// peaks at equal distances in between. It shows the plans that these searches found on the way,
// unless they are too close together, and the given and swept points that nothing beats.
//
// On a small graph, a few large values dominate, and a search for one limit may miss a plan that a
// search for another finds. On such a graph, the search for a limit begins with short searches for
// the peaks of the curve.
//
// A limit on reserved memory: the bytes that the caching allocator reserves follow from the order
// of all requests, so no search can aim at them. Instead, the search limits allocated memory, at
// first to the same number of bytes. The best plans found are judged by their reserved bytes. If
// the plan that the search chose exceeds the limit, another search follows, up to four in total,
// whose limit is that plan's peak minus the excess.
//
// Source: visualize_memory_budget_pareto of torch 2.11's choose_saved_values_set. The search is
// Jointer's. Deviation: torch's curve shows its budgets, and is not monotone where the bytes of
// saved tensors do not determine the peak; Jointer's curve is monotone.

#include "core/partition/pareto.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "core/partition/budget_sweep.h"

namespace jointer {
namespace {

constexpr std::size_t kLimits = 10;      // searches for the curve
constexpr std::size_t kSmall = 1500;     // maximum nodes of a small graph
constexpr std::size_t kStartPart = 3;    // the short searches use 1 / kStartPart of the effort
constexpr std::int64_t kIntervals = 64;  // of peaks; the curve shows one of the plans in each
constexpr int kReservedRounds = 4;       // searches for a limit on reserved memory
constexpr std::size_t kJudged = 16;      // other plans judged by reserved bytes after each round

}  // namespace

std::string_view to_string(LimitedMemory memory) {
  return memory == LimitedMemory::reserved ? "reserved" : "allocated";
}

std::optional<std::int64_t> bytes_of(const ParetoPoint& point, LimitedMemory memory) {
  return memory == LimitedMemory::reserved ? point.reserved_bytes
                                           : std::optional(point.figures.figures.peak_bytes);
}

bool offloads_only_on_demand(const SavePlan& plan, const Graph& joint,
                             std::span<const MemoryPolicy> policies) {
  return std::ranges::all_of(plan.offloaded, [&](NodeId id) {
    return joint.node(id).policy == MemoryPolicy::must_cpu_offload ||
           (id.index() < policies.size() && policies[id.index()] == MemoryPolicy::must_cpu_offload);
  });
}

namespace {

class Search {
 public:
  static Result<std::unique_ptr<Search>> make(const Graph& joint, const PlanWhatIf& what_if,
                                              const ParetoRequest& request, std::size_t limits) {
    JOINTER_TRY(const auto sweep, BudgetSweep::make(joint, what_if, request));
    JOINTER_CHECK(sweep->run());
    std::unique_ptr<Search> search(new Search(what_if, request, limits, sweep->points()));
    search->cancelled_ = sweep->is_cancelled();
    JOINTER_TRY(search->frontier_,
                PlanFrontier::make(joint, what_if,
                                   {.policies = request.policies,
                                    .offload = request.offload,
                                    .effort = request.effort,
                                    .exhaustive = request.exhaustive,
                                    .go_on = [s = search.get()] { return s->go_on(); }}));
    for (const ParetoPoint& point : search->known_) {
      EvaluatedPlan plan{point.plan, point.figures};
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
    Fit fit =
        request_.memory == LimitedMemory::reserved ? best_reserved(limit) : best_allocated(limit);
    add_reserved(fit.point);
    if (!cancelled_ && request_.found && !request_.found(fit.point)) cancelled_ = true;
    return fit;
  }

  // Searches for the limits of the curve, with less effort, to find plans to start from.
  void find_starts() {
    const std::size_t effort = request_.effort / kStartPart;
    const auto smallest = frontier_->best(PlanLimit::of_peak(0), effort);
    const auto fastest = frontier_->best(PlanLimit::of_step(0), effort);
    if (!smallest || !fastest) return;
    for_limits_between(smallest->figures.figures.peak_bytes, fastest->figures.figures.peak_bytes,
                       [&](const PlanLimit& limit) { (void)frontier_->best(limit, effort); });
  }

  ParetoCurve curve() {
    const Fit smallest = best(PlanLimit::of_peak(0));
    const Fit fastest = best(PlanLimit::of_step(0));
    const std::int64_t low = figures_of(smallest.point).peak_bytes;
    const std::int64_t high = figures_of(fastest.point).peak_bytes;
    for_limits_between(low, high, [&](const PlanLimit& limit) { (void)best(limit); });
    std::vector<ParetoPoint> points = known_;
    const std::vector<EvaluatedPlan> found = frontier_->points();
    const std::int64_t interval = std::max<std::int64_t>((high - low) / kIntervals, 1);
    for (std::size_t i = 0; i < found.size(); ++i) {
      const std::int64_t peak = found[i].figures.figures.peak_bytes;
      // The last plan in its interval is the fastest.
      const bool is_last =
          i + 1 == found.size() ||
          (found[i + 1].figures.figures.peak_bytes - low) / interval != (peak - low) / interval;
      if (i == 0 || is_last) points.push_back(point_of(found[i]));
    }
    points = pareto_front(std::move(points));
    for (ParetoPoint& point : points) {
      point.bound_ns = bound(point);
      add_reserved(point);
    }
    std::vector<ParetoPoint> budgets;
    std::ranges::copy_if(known_, std::back_inserter(budgets),
                         [](const ParetoPoint& point) { return point.budget >= 0; });
    return {.points = std::move(points), .budgets = pareto_front(std::move(budgets))};
  }

  // The plans found so far that no other plan beats, by ascending peak.
  [[nodiscard]] std::vector<ParetoPoint> found() const {
    std::vector<ParetoPoint> points;
    for (const EvaluatedPlan& plan : frontier_->points()) points.push_back(point_of(plan));
    return points;
  }

  [[nodiscard]] std::int64_t bound(const ParetoPoint& point) const {
    return bound(figures_of(point).peak_bytes, point);
  }
  // A lower bound on the step time of all plans with at most this peak, including `point`.
  [[nodiscard]] std::int64_t bound(std::int64_t peak_bytes, const ParetoPoint& point) const {
    return std::min(frontier_->bound_ns(peak_bytes), figures_of(point).step_ns);
  }

 private:
  // Calls `search` for peaks at equal distances between `low` and `high`.
  template <class SearchOne>
  void for_limits_between(std::int64_t low, std::int64_t high, const SearchOne& search) {
    const auto intervals = static_cast<std::int64_t>(kLimits - 1);
    for (std::int64_t i = 1; i < intervals && high > low && !cancelled_; ++i)
      search(PlanLimit::of_peak(low + (high - low) / intervals * i));
  }

  Fit best_allocated(const PlanLimit& limit) {
    ParetoPoint nearest = known_.front();
    for (const ParetoPoint& point : known_)
      if (limit.is_better(figures_of(point), figures_of(nearest))) nearest = point;
    if (!cancelled_)
      if (const auto found = frontier_->best(limit);
          found && limit.is_better(found->figures.figures, figures_of(nearest)))
        nearest = point_of(*found);
    return {.point = nearest, .fits = limit.holds(figures_of(nearest))};
  }

  Fit best_reserved(PlanLimit limit) {
    const PlanLimit asked = limit;
    const bool limits_peak = limit.limited == &Figures::peak_bytes;
    std::optional<EvaluatedPlan> best;
    const auto counted = [&](const EvaluatedPlan& plan) {
      Figures f = plan.figures.figures;
      f.peak_bytes = reserved(plan);
      return f;
    };
    for (int round = 0; round < kReservedRounds; ++round) {
      const Fit fit = best_allocated(limit);
      const EvaluatedPlan found{fit.point.plan, fit.point.figures};
      std::vector<EvaluatedPlan> judged = frontier_->points();
      std::erase_if(judged,
                    [&](const EvaluatedPlan& each) { return !asked.holds(each.figures.figures); });
      std::ranges::stable_sort(judged, [&](const EvaluatedPlan& a, const EvaluatedPlan& b) {
        return asked.is_better(a.figures.figures, b.figures.figures);
      });
      judged.resize(std::min(judged.size(), kJudged));
      judged.push_back(found);
      for (EvaluatedPlan& each : judged)
        if (!best || asked.is_better(counted(each), counted(*best))) best = std::move(each);
      const std::int64_t over = reserved(found) - asked.value;
      if (!limits_peak || cancelled_ || over <= 0 || !fit.fits) break;
      limit.value = figures_of(fit.point).peak_bytes - over;
    }
    return {.point = point_of(*best), .fits = asked.holds(counted(*best))};
  }

  // The bytes that the allocator reserves for the plan, computed once for each plan; the peak if
  // they cannot be computed.
  [[nodiscard]] std::int64_t reserved(const EvaluatedPlan& plan) {
    const auto known = std::ranges::find(reserved_, plan.plan, &Reserved::plan);
    if (known != reserved_.end()) return known->bytes;
    const auto bytes = what_if_.reserved_bytes(plan.plan);
    reserved_.push_back({plan.plan, bytes.value_or(plan.figures.figures.peak_bytes)});
    return reserved_.back().bytes;
  }
  // `what_if_` evaluates only min_cut's pairs; those of other partitioners have different calls.
  void add_reserved(ParetoPoint& point) {
    if (point.partitioner == Partitioner::min_cut)
      point.reserved_bytes = reserved({point.plan, point.figures});
  }

  Search(const PlanWhatIf& what_if, const ParetoRequest& request, std::size_t limits,
         std::vector<ParetoPoint> known)
      : what_if_(what_if), request_(request), limits_(limits), known_(std::move(known)) {}

  // The given or swept point with this plan, or a new one.
  [[nodiscard]] ParetoPoint point_of(const EvaluatedPlan& plan) const {
    const auto same = std::ranges::find_if(known_, [&](const ParetoPoint& point) {
      return point.partitioner == Partitioner::min_cut && point.plan == plan.plan;
    });
    if (same != known_.end()) return *same;
    return {.budget = -1, .name = {}, .plan = plan.plan, .figures = plan.figures};
  }
  bool go_on() {
    const auto all = static_cast<double>(limits_ * std::max<std::size_t>(request_.effort, 1));
    const double done = std::min(1.0, static_cast<double>(++evaluated_) / all);
    cancelled_ =
        cancelled_ || !request_.partition.watcher.at(BudgetSweep::kSweepShare +
                                                     (1 - BudgetSweep::kSweepShare) * done);
    return !cancelled_;
  }

  struct Reserved {
    SavePlan plan;
    std::int64_t bytes = 0;
  };

  const PlanWhatIf& what_if_;
  const ParetoRequest& request_;
  std::size_t limits_;
  std::vector<Reserved> reserved_;
  std::vector<ParetoPoint> known_;
  std::unique_ptr<PlanFrontier> frontier_;
  std::size_t evaluated_ = 0;
  bool cancelled_ = false;
};

Result<Fit> search(const Graph& joint, const PlanWhatIf& what_if, const PlanLimit& limit,
                   const ParetoRequest& request) {
  JOINTER_TRY(const auto search, Search::make(joint, what_if, request, 1));
  if (joint.order().size() <= kSmall) search->find_starts();
  Fit fit = search->best(limit);
  fit.point.bound_ns = search->bound(fit.point);
  if (fit.fits && limit.limited == &Figures::peak_bytes) {
    fit.bound_ns = search->bound(limit.value, fit.point);
    fit.found = search->found();
  }
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
