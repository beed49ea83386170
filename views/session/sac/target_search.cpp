#include "views/session/sac/target_search.h"

#include "views/session/sac/pareto_search.h"
#include "views/session/sac/step_state.h"

namespace jointer::views {

TargetSearch::TargetSearch(QObject* parent) : QObject(parent) {}

TargetSearch::~TargetSearch() = default;

void TargetSearch::find(const SacStatePtr& state, const PlanTarget& target) {
  cancel();
  found_.reset();
  best_.reset();
  const auto run = [state, target](const Cancellation& job) {
    PlanTarget cancellable = target;
    cancellable.go_on = [&job] { return !job.is_cancelled(); };
    const Graph step = state->is_step() ? step_with_own_tags(*state) : Graph();
    return find_changes(state->is_step() ? step : state->base->partition.joint, *state->what_if(),
                        state->plan, cancellable);
  };
  list_.start(run, [this, state, target](Result<ChangeList> list) {
    if (list) {
      found_ = {.state = state, .target = target, .list = *std::move(list)};
      find_best();
    } else {
      emit failed(QString::fromStdString(list.error().message));
    }
    emit changed();
  });
  emit changed();
}

void TargetSearch::find_best() {
  const auto run = [found = *found_](const Cancellation& job) -> Result<Fit> {
    JOINTER_TRY(const auto trade_off, ParetoSearch::trade_off_of(*found.state, {}, {}, job, {}));
    // The list's plan is a candidate, too.
    trade_off->set_now({.budget = -1,
                        .name = ParetoSearch::kNow,
                        .plan = found.list.plan,
                        .figures = found.list.figures,
                        .partitioner = found.state->settings().partitioner});
    return trade_off->fastest_within(found.target.peak_bytes);
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
  best_search_.cancel();
  emit changed();
}

Edit edit_of(const ChangeList& list, const Graph& graph, const QString& title) {
  Edit edit{.title = title.toStdString(), .by = {}, .changes = {}, .notes = {}};
  for (const PlanAction to : {PlanAction::recompute, PlanAction::offload}) {
    std::vector<std::string> names;
    for (const ListedChange& each : list.changes)
      if (each.move.to == to)
        for (const NodeId node : each.move.nodes()) names.push_back(edit_name(graph, node));
    if (!names.empty())
      edit.changes.emplace_back(SetPolicy{
          .select = {}, .policy = policy_of(to), .region = {}, .nodes = std::move(names)});
  }
  return edit;
}

}  // namespace jointer::views
