// Compares a plan with the decisions of other solvers under the same limit.
//
// The limit
//   A plan found for a torch budget is compared at that budget, with torch's dp and greedy. Any
//   other plan is compared at its peak: each of the two gets the largest budget found whose plan
//   stays within that peak. The relaxation (plan_relaxation.cpp) always gets the lowest price per
//   byte found whose plan stays within the peak. It is solved without copies and, if the plan
//   offloads anything, also for each of the copy prices below. The fastest of its plans within the
//   peak counts.
//
// The peak at which the relaxation's decision flips is found by bisection over the price per byte,
// between the current price and the maximum or, if the value is recomputed, the minimum. It is the
// peak of the last plan that saves or offloads the value. A peak that is on the wrong side of the
// compared plan's is not reported. The flip for torch's budgets is found by bisection too.
// Decisions need not be monotone in a price or a budget, so there may be more flips than the one
// that is found, and flips that are not found.
//
// A value counts as saved if its memory is saved, since a plan may save a view of the value
// instead.
//
// Cost: about 30 cuts for each torch solver, and at most 19 for each of up to four copy prices.

#include "core/partition/solver_choices.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/partition/plan_state.h"

namespace jointer {
namespace {

constexpr std::array kCopyPrices{1.0, 0.5, 0.2};
// The price per byte is the mean price times a power of two with one of these exponents.
constexpr double kMinExponent = -10, kMaxExponent = 10, kExponentStep = 2;
constexpr int kHalvings = 8;

constexpr double kParts = BudgetPlans::kParts;

}  // namespace

Result<std::unique_ptr<SolverComparison>> SolverComparison::make(const Graph& joint,
                                                                 const PlanWhatIf& what_if,
                                                                 Request request) {
  std::unique_ptr<SolverComparison> made(new SolverComparison(joint, what_if, std::move(request)));
  JOINTER_TRY(const PlanFigures figures, what_if.figures(made->request_.plan));
  made->figures_ = figures.figures;
  JOINTER_CHECK(made->solve_torchs());
  JOINTER_CHECK(made->relax());
  if (made->is_cancelled()) return fail(Error::Kind::cancelled, "cancelled");
  return made;
}

Result<void> SolverComparison::solve_torchs() {
  for (const bool is_dp : {true, false}) {
    TorchPlan& torchs = is_dp ? dp_ : greedy_;
    PartitionOptions options = request_.partition;
    options.solver = is_dp ? KnapsackSolver::dp : KnapsackSolver::greedy;
    options.ignore_tags = false;  // `joint` has the tags in effect
    options.watcher = {.report = {}, .is_cancelled = request_.is_cancelled};
    JOINTER_TRY(torchs.plans, what_if_.state().orders.is_flat()
                                  ? BudgetPlans::of_step(what_if_.state().graph, what_if_, options)
                                  : BudgetPlans::make(joint_, options));
    if (request_.budget) {
      torchs.budget = *request_.budget;
    } else {
      const auto fit = torchs.plans->within(what_if_, figures_.peak_bytes);
      if (!fit && fit.error().kind == Error::Kind::cancelled) return tl::unexpected(fit.error());
      if (!fit || !fit->fits) continue;
      torchs.budget = fit->budget;
    }
    if (auto plan = torchs.plans->plan(torchs.budget)) torchs.plan = *std::move(plan);
  }
  return {};
}

PlanPrices SolverComparison::prices(double exponent, std::optional<double> copy) const {
  return {.byte_ns = std::exp2(exponent) * std::max(relaxation_->mean_byte_ns(), 1e-9),
          .copy = copy};
}

std::optional<SolverComparison::Relaxed> SolverComparison::relaxed(const PlanPrices& prices) const {
  if (is_cancelled()) return std::nullopt;
  auto solution = relaxation_->solve(prices);
  if (!solution) return std::nullopt;
  const auto plan = relaxation_->plan(solution->actions);
  if (!plan) return std::nullopt;
  const auto figures = what_if_.figures(*plan);
  if (!figures) return std::nullopt;
  return Relaxed{
      .prices = prices, .actions = std::move(solution->actions), .figures = figures->figures};
}

std::optional<SolverComparison::Relaxed> SolverComparison::relaxed_within(
    std::optional<double> copy) const {
  const auto fits = [&](const std::optional<Relaxed>& each) {
    return each && each->figures.peak_bytes <= figures_.peak_bytes;
  };
  // Recomputing everything can have a higher peak than recomputing less.
  std::optional<Relaxed> best;
  double high = kMinExponent;
  for (; high <= kMaxExponent && !best; high += kExponentStep)
    if (auto tried = relaxed(prices(high, copy)); fits(tried)) best = std::move(tried);
  if (!best) return std::nullopt;
  high -= kExponentStep;  // back to that of `best`
  double low = high - kExponentStep;
  for (int i = 0; i < kHalvings && high > kMinExponent; ++i) {
    const double middle = (low + high) / 2;
    auto tried = relaxed(prices(middle, copy));
    if (!fits(tried)) {
      low = middle;
      continue;
    }
    high = middle;
    best = std::move(tried);
  }
  return best;
}

Result<void> SolverComparison::relax() {
  auto made = PlanRelaxation::make(what_if_, request_.policies);
  if (!made) return {};  // the tags leave no plan
  relaxation_ = *std::move(made);
  std::vector<std::optional<double>> copies{std::nullopt};
  if (!request_.plan.offloaded.empty())
    copies.insert(copies.end(), kCopyPrices.begin(), kCopyPrices.end());
  for (const auto& copy : copies) {
    auto found = relaxed_within(copy);
    if (found && (!within_ || found->figures.step_ns < within_->figures.step_ns))
      within_ = std::move(found);
  }
  return {};
}

PlanAction SolverComparison::action_under(const SavePlan& plan, NodeId value) const {
  const PlanWhatIf::State& s = what_if_.state();
  const auto has = [&](const std::vector<NodeId>& nodes) {
    const auto mine = s.memory.storages(s.orders.place(value));
    return std::ranges::any_of(nodes, [&](NodeId node) {
      if (node == value) return true;
      const auto its = s.memory.storages(s.orders.place(node));
      return std::ranges::find_first_of(mine, its) != mine.end();
    });
  };
  if (has(plan.offloaded)) return PlanAction::offload;
  return has(plan.saved) ? PlanAction::save : PlanAction::recompute;
}

std::optional<std::size_t> SolverComparison::relaxed_value(NodeId value) const {
  const PlanWhatIf::State& s = what_if_.state();
  const auto mine = s.memory.storages(s.orders.place(value));
  const auto values = relaxation_->values();
  const auto found = std::ranges::find_if(values, [&](NodeId node) {
    const auto its = s.memory.storages(s.orders.place(node));
    return std::ranges::find_first_of(mine, its) != mine.end();
  });
  if (found == values.end()) return std::nullopt;
  return static_cast<std::size_t>(found - values.begin());
}

std::optional<std::int64_t> SolverComparison::other_peak(std::size_t value) const {
  const PlanPrices& now = within_->prices;
  const bool is_saved = within_->actions[value] != PlanAction::recompute;
  double kept = std::log2(now.byte_ns / prices(0, now.copy).byte_ns);
  double recomputed = is_saved ? kMaxExponent : kMinExponent;
  const auto keeps = [&](const std::optional<Relaxed>& each) {
    return each && each->actions[value] != PlanAction::recompute;
  };
  std::optional<Relaxed> last = is_saved ? within_ : std::nullopt;
  const auto end = relaxed(prices(recomputed, now.copy));
  if (!end || keeps(end) == is_saved) return std::nullopt;
  if (!is_saved) {
    last = end;
    std::swap(kept, recomputed);
  }
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (kept + recomputed) / 2;
    auto tried = relaxed(prices(middle, now.copy));
    if (!tried) return std::nullopt;
    if (keeps(tried)) {
      last = std::move(tried);
      kept = middle;
    } else {
      recomputed = middle;
    }
  }
  // If the peak is caused by recomputation, a higher price does not lower it.
  const std::int64_t peak = last->figures.peak_bytes;
  const bool is_beyond = is_saved ? peak <= figures_.peak_bytes : peak > figures_.peak_bytes;
  return is_beyond ? std::optional(peak) : std::nullopt;
}

std::optional<double> SolverComparison::other_budget(NodeId value) {
  const bool is_greedy = request_.partition.solver == KnapsackSolver::greedy;
  const TorchPlan& torchs = is_greedy ? greedy_ : dp_;
  if (!torchs.plan) return std::nullopt;
  const PlanAction now = action_under(*torchs.plan, value);
  const auto is_same = [&](double part) {
    const auto plan = torchs.plans->plan(part / kParts);
    return !plan || action_under(*plan, value) == now;
  };
  double same = torchs.budget * kParts, other = now == PlanAction::recompute ? kParts : 0;
  if (is_same(other)) return std::nullopt;
  while (std::abs(other - same) > 1) {
    const double middle = std::round((same + other) / 2);
    if (middle == same || middle == other) break;
    (is_same(middle) ? same : other) = middle;
  }
  return other / kParts;
}

Result<SolverChoices> SolverComparison::of(NodeId value) {
  SolverChoices choices;
  const auto torchs = [&](const TorchPlan& made) -> std::optional<SolverChoices::Torch> {
    if (!made.plan) return std::nullopt;
    return SolverChoices::Torch{.action = action_under(*made.plan, value), .budget = made.budget};
  };
  choices.dp = torchs(dp_);
  choices.greedy = torchs(greedy_);
  if (within_)
    if (const auto index = relaxed_value(value)) {
      choices.relaxation = within_->actions[*index];
      choices.relaxation_peak_bytes = other_peak(*index);
    }
  if (request_.budget && request_.partition.solver != KnapsackSolver::knee_point)
    choices.other_budget = other_budget(value);
  if (is_cancelled()) return fail(Error::Kind::cancelled, "cancelled");
  return choices;
}

}  // namespace jointer
