#include "core/partition/budget_plans.h"

#include <utility>
#include <vector>

#include "core/partition/cut_preparation.h"
#include "core/partition/plan_state.h"

namespace jointer {
namespace {

constexpr int kWideStep = BudgetPlans::kParts / 20;

}  // namespace

Result<std::unique_ptr<BudgetPlans>> BudgetPlans::make(Graph joint, PartitionOptions options) {
  std::unique_ptr<BudgetPlans> made(new BudgetPlans(std::move(joint), std::move(options)));
  if (made->options_.ignore_tags) drop_tags(made->joint_);
  JOINTER_CHECK(check_functional(made->joint_));
  std::vector<TagSource> tags = prepare_for_cut(made->joint_);
  JOINTER_TRY(made->parts_, find_joint_parts(made->joint_));
  if (!made->parts_.any_backward())
    return fail(Error::Kind::usage, "the graph has no backward, so there is nothing to save");
  made->problem_ = std::make_unique<MinCut>(made->joint_, made->parts_, std::move(tags));
  made->budgets_ = std::make_unique<ActivationBudget>(made->joint_, made->parts_, *made->problem_,
                                                      made->options_);
  return made;
}

Result<std::unique_ptr<BudgetPlans>> BudgetPlans::of_step(Graph step, const PlanWhatIf& what_if,
                                                          PartitionOptions options) {
  if (options.ignore_tags) drop_tags(step);
  std::unique_ptr<BudgetPlans> made(new BudgetPlans(Graph(), std::move(options)));
  JOINTER_TRY(made->step_, StepBudget::make(step, what_if, made->options_));
  return made;
}

Result<SavePlan> BudgetPlans::plan(double budget) {
  const Watcher watcher{.report = {}, .is_cancelled = options_.watcher.is_cancelled};
  JOINTER_CHECK(watcher.at(0));
  if (step_) return step_->plan(budget);
  JOINTER_TRY(const BudgetedCut chosen, budgets_->choose(budget, watcher));
  return plan_of(joint_, parts_, chosen.saved);
}

Result<std::int64_t> BudgetPlans::peak(const PlanWhatIf& what_if, int part) {
  if (const auto known = peaks_.find(part); known != peaks_.end()) return known->second;
  JOINTER_TRY(const SavePlan found, plan(static_cast<double>(part) / kParts));
  JOINTER_TRY(const PlanFigures figures, what_if.figures(found));
  return peaks_.emplace(part, figures.figures.peak_bytes).first->second;
}

// A lower budget may have a higher peak, since recomputed values need memory in the backward. The
// search therefore goes down from budget 1 in coarse steps until one fits, then bisects the step
// above it.
Result<BudgetPlans::Fit> BudgetPlans::within(const PlanWhatIf& what_if, std::int64_t peak_bytes) {
  std::optional<Error> last_error;
  std::optional<std::pair<std::int64_t, int>> smallest;
  for (int part = kParts; part >= 0; part -= kWideStep) {
    const auto bytes = peak(what_if, part);
    if (!bytes) {
      if (bytes.error().kind == Error::Kind::cancelled) return tl::unexpected(bytes.error());
      last_error = bytes.error();
      continue;
    }
    if (!smallest || *bytes < smallest->first) smallest = {*bytes, part};
    if (*bytes > peak_bytes) continue;
    int low = part, high = std::min(part + kWideStep, kParts + 1);
    while (high - low > 1) {
      const int middle = low + (high - low) / 2;
      const auto tried = peak(what_if, middle);
      if (!tried && tried.error().kind == Error::Kind::cancelled)
        return tl::unexpected(tried.error());
      (tried && *tried <= peak_bytes ? low : high) = middle;
    }
    return Fit{static_cast<double>(low) / kParts, true};
  }
  if (!smallest) return tl::unexpected(*last_error);
  return Fit{static_cast<double>(smallest->second) / kParts, false};
}

}  // namespace jointer
