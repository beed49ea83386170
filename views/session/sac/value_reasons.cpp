#include "views/session/sac/value_reasons.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace jointer::views {
namespace {

bool has_same_plan(const SacStatePtr& a, const SacStatePtr& b) {
  return a && b && a->base == b->base && a->step == b->step && a->plan == b->plan;
}

// Compares solvers under the conditions in which the partitioner solved: at its budget (unless the
// plan has changed since) and with the tags at that time. Each solver thus shows what it would
// decide in place of the user. A flat training step is compared at its peak.
SolverComparison::Request request_of(const SacState& state,
                                     std::shared_ptr<const Cancellation> job) {
  SolverComparison::Request request{.plan = state.plan, .budget = std::nullopt};
  request.is_cancelled = [job = std::move(job)] { return job->is_cancelled(); };
  if (!state.base) return request;
  const SacBase& base = *state.base;
  const bool is_solved = state.plan == base.partition.plan;
  const double budget = base.settings.activation_budget;
  request.partition = options_of(base.settings);
  if (is_solved && budget < 1) request.budget = budget;
  if (!base.settings.ignore_tags) request.policies = base.policies;
  return request;
}

// The graph of the compared plans: the joint graph as cleaned by the partitioner, or the flat
// training step.
const Graph& graph_of(const SacState& state) {
  return state.base ? state.base->partition.joint : state.step->snapshot->graph;
}

}  // namespace

ValueReasons::ValueReasons(QObject* parent) : QObject(parent) {}

void ValueReasons::follow(const SacStatePtr& state, NodeId node) {
  const SacTensor* tensor = state && state->can_change() ? state->tensor_of(node) : nullptr;
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
    if (!plan.state) plan.state = state;
    const Graph& joint = graph_of(*plan.state);
    const PlanWhatIf& what_if = *plan.state->what_if();
    if (!plan.margins) {
      JOINTER_TRY(PlanMargins made, PlanMargins::make(what_if, plan.state->plan));
      plan.margins = std::make_shared<const PlanMargins>(std::move(made));
    }
    JOINTER_TRY(const ValueMargin margin, plan.margins->of(node));
    job.report(explain_margin(joint, margin));
    if (!plan.job) plan.job = std::make_shared<Cancellation>();
    *plan.job = job;
    SolverComparison::Request request = request_of(*plan.state, plan.job);
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
