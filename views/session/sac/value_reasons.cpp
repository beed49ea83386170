#include "views/session/sac/value_reasons.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace jointer::views {
namespace {

bool has_same_plan(const SacStatePtr& a, const SacStatePtr& b) {
  return a && b && a->base == b->base && a->plan == b->plan;
}

// The plan is compared as the partitioner solved it: at its budget unless it was changed since, and
// under the tags of that time. So the solvers say what they would do against the user's choice.
SolverComparison::Request request_of(const SacState& state,
                                     std::shared_ptr<const Cancellation> job) {
  const SacBase& base = *state.base;
  const bool is_solved = state.plan == base.partition.plan;
  const double budget = base.settings.activation_budget;
  return {.plan = state.plan,
          .partition = options_of(base.settings),
          .budget = is_solved && budget < 1 ? std::optional(budget) : std::nullopt,
          .policies = base.settings.ignore_tags ? std::vector<MemoryPolicy>() : base.policies,
          .is_cancelled = [job = std::move(job)] { return job->is_cancelled(); }};
}

}  // namespace

ValueReasons::ValueReasons(QObject* parent) : QObject(parent) {}

ValueReasons::~ValueReasons() = default;

void ValueReasons::follow(const SacStatePtr& state, NodeId node) {
  const SacTensor* tensor = state && state->base ? state->tensor_of(node) : nullptr;
  const bool is_explained = tensor != nullptr && tensor->is_needed;
  if (is_explained && node == node_ && has_same_plan(state, state_)) return;
  explaining_.cancel();
  if (!has_same_plan(state, state_)) plan_ = {};
  state_ = is_explained ? state : nullptr;
  node_ = is_explained ? node : NodeId{};
  lines_.clear();
  if (!is_explained) return;
  const auto explain = [state, node, plan = std::exchange(plan_, {})](
                           const Reporter<Lines>& job) mutable -> Result<Plan> {
    const Graph& joint = state->base->partition.joint;
    const PlanWhatIf& what_if = *state->base->what_if;
    if (!plan.margins) {
      JOINTER_TRY(PlanMargins made, PlanMargins::make(what_if, state->plan));
      plan.margins = std::make_shared<const PlanMargins>(std::move(made));
    }
    JOINTER_TRY(const ValueMargin margin, plan.margins->of(node));
    job.report(explain_margin(joint, margin));
    if (!plan.job) plan.job = std::make_shared<Cancellation>();
    *plan.job = job;
    SolverComparison::Request request = request_of(*state, plan.job);
    const std::optional<double> budget = request.budget;
    if (!plan.solvers) {
      JOINTER_TRY(plan.solvers, SolverComparison::make(joint, what_if, std::move(request)));
    }
    JOINTER_TRY(const SolverChoices choices, plan.solvers->of(node));
    job.report({explain_choices(choices, budget)});
    return plan;
  };
  explaining_.start(
      explain,
      [this](Result<Plan> plan) {
        if (plan) plan_ = *std::move(plan);
        emit changed();
      },
      [this](Lines lines) {
        std::ranges::move(lines, std::back_inserter(lines_));
        emit changed();
      });
}

}  // namespace jointer::views
