// Solves plans under many activation budgets and chooses the budgets.
//
// torch bisects the range of budgets depth first, down to 1/1000 (visualize_memory_budget_pareto),
// which takes up to a thousand cuts. Here, the next gap to divide is the most promising one: the
// one whose two points span the largest area in peak and step time, both relative. As in torch, a
// gap whose ends have the same estimates is not divided; nor is one whose halves would be narrower
// than 1/1000. A coarse curve thus exists after a few cuts and is then refined, so even a search
// that is cancelled early has one.
//
// A budget may have no legal plan, for example if it requires recomputing a value that cannot be
// recomputed. A gap with such a budget at one end counts by its width and is halved; a gap with
// such budgets at both ends is not.
//
// Cost: per budget, a plan (BudgetPlans::plan) and its estimates.

#include "core/partition/budget_sweep.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace jointer {
namespace {

constexpr double kNarrowest = 1e-3;

double part(std::int64_t a, std::int64_t b, std::int64_t whole) {
  return whole == 0 ? 0 : std::abs(static_cast<double>(a - b)) / static_cast<double>(whole);
}

}  // namespace

// An interval between two budgets. If a budget has no legal plan, that end of the interval has no
// point.
struct BudgetSweep::Gap {
  double low = 0, high = 1;
  std::optional<std::size_t> low_point, high_point;
};

Result<std::unique_ptr<BudgetSweep>> BudgetSweep::make(const Graph& joint,
                                                       const PlanWhatIf& what_if,
                                                       const ParetoRequest& request) {
  const CaptureKind kind = joint.part(PartId(0)).kind;
  if (joint.is_pair() || (kind != CaptureKind::joint && kind != CaptureKind::train_step))
    return fail(Error::Kind::usage,
                "activation budgets apply only to joint graphs and flat training steps, but this "
                "graph is of kind {}",
                joint.is_pair() ? "pair" : to_string(kind));
  const Watcher& watcher = request.partition.watcher;
  JOINTER_CHECK(watcher.at(0));
  std::unique_ptr<BudgetSweep> sweep(new BudgetSweep(joint, what_if, request));
  JOINTER_TRY(sweep->plans_, kind == CaptureKind::train_step
                                 ? BudgetPlans::of_step(joint, what_if, request.partition)
                                 : BudgetPlans::make(joint, request.partition));
  JOINTER_CHECK(watcher.at(0.02));
  return sweep;
}

void BudgetSweep::tell(const ParetoPoint& point) {
  if (request_.found && !request_.found(point)) cancelled_ = true;
}

Result<void> BudgetSweep::add_given() {
  for (const ParetoPoint& given : request_.given) {
    cancelled_ = cancelled_ || !request_.partition.watcher.at(0.02);
    if (cancelled_) return {};
    if (!request_.offload && !offloads_only_on_demand(given.plan, joint_, request_.policies))
      continue;
    ParetoPoint point = given;
    if (given.partitioner == Partitioner::min_cut) {
      JOINTER_TRY(point.figures, what_if_.figures(point.plan));
    }
    points_.push_back(std::move(point));
    tell(points_.back());
  }
  return {};
}

Result<std::size_t> BudgetSweep::try_budget(double budget) {
  // The number of budgets is not known in advance, so each one advances the progress by less than
  // the one before.
  const double done = 1 - 1 / (1 + 0.25 * static_cast<double>(points_.size()));
  const Watcher& all = request_.partition.watcher;
  JOINTER_CHECK(all.at(0.02 + (kSweepShare - 0.02) * done));
  ParetoPoint point{.budget = budget, .name = {}, .plan = {}, .figures = {}};
  JOINTER_TRY(point.plan, plans_->plan(budget));
  JOINTER_TRY(point.figures, what_if_.figures(point.plan));
  points_.push_back(std::move(point));
  tell(points_.back());
  return points_.size() - 1;
}

Result<void> BudgetSweep::run() {
  JOINTER_CHECK(add_given());
  std::optional<Error> last_error;
  std::size_t tried = 0;
  const auto attempt = [&](double budget) -> std::optional<std::size_t> {
    ++tried;
    auto point = try_budget(budget);
    if (point) return *point;
    cancelled_ = cancelled_ || point.error().kind == Error::Kind::cancelled;
    last_error = std::move(point).error();
    return std::nullopt;
  };
  const auto urgency = [&](const Gap& gap) -> double {
    if (gap.high - gap.low < 2 * kNarrowest || (!gap.low_point && !gap.high_point)) return 0;
    // One end has no point: use the width of the interval.
    if (!gap.low_point || !gap.high_point) return gap.high - gap.low;
    const Figures& a = figures_of(points_[*gap.low_point]);
    const Figures& b = figures_of(points_[*gap.high_point]);
    if (a == b) return 0;
    // A gap with no extent in one of the metrics is still divided, but last.
    constexpr double kMin = 1e-9;
    return std::max(part(a.peak_bytes, b.peak_bytes, std::max(a.peak_bytes, b.peak_bytes)) *
                        part(a.step_ns, b.step_ns, std::max(a.step_ns, b.step_ns)),
                    kMin);
  };
  std::vector<Gap> gaps;
  if (!cancelled_) {
    Gap whole;
    whole.high_point = attempt(1);
    if (!cancelled_) whole.low_point = attempt(0);
    gaps.push_back(whole);
  }
  while (!cancelled_ && tried < request_.max_budgets && !gaps.empty()) {
    const auto next = std::ranges::max_element(
        gaps, [&](const Gap& a, const Gap& b) { return urgency(a) < urgency(b); });
    if (urgency(*next) == 0) break;
    Gap lower = *next, upper = *next;
    lower.high = upper.low = (next->low + next->high) / 2;
    lower.high_point = upper.low_point = attempt(lower.high);
    *next = lower;
    gaps.push_back(upper);
  }
  if (points_.empty() && last_error) return tl::unexpected(*last_error);
  if (points_.empty()) return fail(Error::Kind::cancelled, "cancelled");
  return {};
}

std::vector<ParetoPoint> pareto_front(std::vector<ParetoPoint> points) {
  std::stable_sort(points.begin(), points.end(), [](const ParetoPoint& a, const ParetoPoint& b) {
    const Figures& x = figures_of(a);
    const Figures& y = figures_of(b);
    return std::pair(x.peak_bytes, x.step_ns) < std::pair(y.peak_bytes, y.step_ns);
  });
  std::vector<ParetoPoint> front;
  for (ParetoPoint& point : points)
    if (front.empty() || figures_of(point).step_ns < figures_of(front.back()).step_ns)
      front.push_back(std::move(point));
  return front;
}

}  // namespace jointer
