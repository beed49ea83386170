#include "views/session/sac/target_search.h"

#include "passes/support/communicates.h"
#include "views/session/sac/ordered_plan.h"
#include "views/session/sac/step_state.h"

namespace jointer::views {

TargetSearch::TargetSearch(QObject* parent) : QObject(parent) {}

void TargetSearch::find(const SacStatePtr& state, const PlanTarget& target,
                        const ParetoSearch::Settings& settings) {
  cancel();
  outcome_.reset();
  best_.reset();
  settings_ = {.orders = settings.orders, .twin_groups = settings.twin_groups};
  const auto run = [state, target](const Cancellation& job) {
    PlanTarget cancellable = target;
    cancellable.go_on = [&job] { return !job.is_cancelled(); };
    const Graph step = state->is_step() ? step_with_own_tags(*state) : Graph();
    return find_changes(state->is_step() ? step : state->base->partition.joint, *state->what_if(),
                        state->plan, cancellable);
  };
  list_.start(run, [this, state, target](Result<ChangeList> list) {
    if (list) {
      outcome_ = {.state = state, .target = target, .list = *std::move(list)};
      find_order();
    } else {
      emit failed(QString::fromStdString(list.error().message));
    }
    emit changed();
  });
  emit changed();
}

void TargetSearch::find_order() {
  const Graph& graph = outcome_->state->snapshot->graph;
  if (!settings_.orders || !needs_order(outcome_->list) || !communicates(graph)) return find_best();
  const auto run = [outcome = *outcome_, settings = settings_](const Cancellation& job) {
    const SacState& state = *outcome.state;
    const auto make_graph = [&] {
      return ordered_graph({state.base, state.step, outcome.list.plan, {}});
    };
    return order_of_list(outcome.list, outcome.target, make_graph,
                         ParetoSearch::find_order_of(state, settings, job));
  };
  ordering_.start(run, [this](Result<PlanOrder> order) {
    if (order) {
      outcome_->order = *std::move(order);
      find_best();
    } else {
      emit failed(QString::fromStdString(order.error().message));
    }
    emit changed();
  });
}

void TargetSearch::find_best() {
  const auto run =
      [outcome = *outcome_, settings = settings_,
       hidden = hidden_.of(outcome_->state, settings_)](const Cancellation& job) -> Result<Fit> {
    JOINTER_TRY(const auto trade_off,
                ParetoSearch::trade_off_of(*outcome.state, settings, {}, job, {}));
    // The list's plan is a candidate, too.
    const Partitioner partitioner = outcome.state->settings().partitioner;
    trade_off->set_now({.budget = -1,
                        .name = ParetoSearch::kNow,
                        .plan = outcome.list.plan,
                        .figures = outcome.list.figures,
                        .partitioner = partitioner});
    const PlanOrder own{.figures = outcome.list.figures.figures};
    return best_for_target(*trade_off, outcome.target,
                           point_of_list(outcome.list, outcome.order.value_or(own), partitioner),
                           ParetoSearch::find_order_of(*outcome.state, settings, job),
                           hidden.get());
  };
  best_search_.start(run, [this](Result<Fit> best) {
    if (best)
      best_ = *std::move(best);
    else
      emit failed(QString::fromStdString(best.error().message));
    emit changed();
  });
}

void TargetSearch::cancel() {
  if (!is_running()) return;
  list_.cancel();
  ordering_.cancel();
  best_search_.cancel();
  emit changed();
}

Edit edit_of(const ChangeList& list, const Graph& graph, const QString& title) {
  Edit edit{.title = title.toStdString()};
  for (const PlanAction to : {PlanAction::recompute, PlanAction::offload}) {
    std::vector<std::string> names;
    for (const ListedChange& each : list.changes)
      if (each.move.to == to)
        for (const NodeId node : each.move.nodes()) names.push_back(edit_name(graph, node));
    if (!names.empty())
      edit.changes.emplace_back(SetPolicy{.policy = policy_of(to), .nodes = std::move(names)});
  }
  return edit;
}

}  // namespace jointer::views
