#include "views/session/sac/budget_trial.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "core/partition/cut_preparation.h"
#include "views/session/sac/sac_state.h"

namespace jointer::views {
namespace {

constexpr int kWideStep = BudgetTrial::kParts / 20;

}  // namespace

Result<std::unique_ptr<BudgetTrial>> BudgetTrial::make(SnapshotPtr snapshot,
                                                       const std::vector<MemoryPolicy>& policies,
                                                       const SolveSettings& settings) {
  std::unique_ptr<BudgetTrial> trial(new BudgetTrial(std::move(snapshot), settings));
  Graph& joint = trial->joint_;
  for (std::size_t i = 0; i < policies.size(); ++i) joint.node(NodeId(i)).policy = policies[i];
  if (settings.ignore_tags) drop_tags(joint);
  if (sac_kind(joint) == SacKind::step) {
    trial->make_what_if();
    JOINTER_TRY(trial->step_budgets_, StepBudget::make(joint, *trial->what_if_, trial->options_));
    return trial;
  }
  JOINTER_CHECK(check_functional(joint));
  std::vector<TagSource> tags = prepare_for_cut(joint);
  JOINTER_TRY(trial->parts_, find_joint_parts(joint));
  if (!trial->parts_.any_backward())
    return fail(Error::Kind::usage, "the graph has no backward, so there is nothing to save");
  trial->problem_ = std::make_unique<MinCut>(joint, trial->parts_, std::move(tags));
  trial->budgets_ =
      std::make_unique<ActivationBudget>(joint, trial->parts_, *trial->problem_, trial->options_);
  trial->make_what_if();
  return trial;
}

void BudgetTrial::make_what_if() {
  const Analysis& analysis = snapshot_->analysis;
  what_if_ = std::make_unique<PlanWhatIf>(
      joint_, analysis.costs, analysis.flops, analysis.options.memory, analysis.options.simulation,
      PlanWhatIfOptions{.transfers = analysis.transfers, .partitioner = Partitioner::min_cut});
}

Result<SavePlan> BudgetTrial::plan(double budget) {
  if (step_budgets_) return step_budgets_->plan(budget);
  JOINTER_TRY(const BudgetedCut chosen, budgets_->choose(budget));
  return plan_of(joint_, parts_, chosen.saved);
}

Result<PlanOutcomePtr> BudgetTrial::at(double budget) {
  JOINTER_TRY(const SavePlan found, plan(budget));
  JOINTER_TRY(PlanWhatIf::Outcome outcome, what_if_->evaluate(found));
  return std::make_shared<const PlanOutcome>(place(std::move(outcome), snapshot_->analysis.memory));
}

Result<std::int64_t> BudgetTrial::peak(int part) {
  if (const auto known = peaks_.find(part); known != peaks_.end()) return known->second;
  JOINTER_TRY(const SavePlan found, plan(static_cast<double>(part) / kParts));
  JOINTER_TRY(const PlanFigures figures, what_if_->figures(found));
  return peaks_.emplace(part, figures.figures.peak_bytes).first->second;
}

// The peak does not decrease monotonically with the budget, since recomputed values need memory in
// the backward. The search therefore first goes down from the largest budget in coarse steps until
// one fits, then refines upward by bisection.
Result<BudgetTrial::Fit> BudgetTrial::within(std::int64_t peak_bytes) {
  std::optional<Error> last_error;
  std::optional<std::pair<std::int64_t, int>> least;
  for (int part = kParts; part >= 0; part -= kWideStep) {
    const auto bytes = peak(part);
    if (!bytes) {
      last_error = bytes.error();
      continue;
    }
    if (!least || *bytes < least->first) least = {*bytes, part};
    if (*bytes > peak_bytes) continue;
    int low = part, high = std::min(part + kWideStep, kParts + 1);
    while (high - low > 1) {
      const int middle = low + (high - low) / 2;
      const auto tried = peak(middle);
      (tried && *tried <= peak_bytes ? low : high) = middle;
    }
    return Fit{static_cast<double>(low) / kParts, true};
  }
  if (!least) return tl::unexpected(*last_error);
  return Fit{static_cast<double>(least->second) / kParts, false};
}

}  // namespace jointer::views
