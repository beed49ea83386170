#include "views/session/sac/plan_history.h"

#include <algorithm>
#include <span>

#include "views/session/edit/editing.h"
#include "views/session/open/open_graph.h"
#include "views/session/sac/plan_changes.h"
#include "views/session/sac/sac_session.h"

namespace jointer::views {

bool shows_plans(const SacSession& session) {
  if (sac_kind(session.open_graph().baseline()->graph) == SacKind::partitioned) return false;
  const auto has = [](std::span<const DoneEditPtr> edits) {
    return std::ranges::any_of(edits,
                               [](const DoneEditPtr& done) { return changes_plan(done->edit); });
  };
  const Editing& editing = session.editing();
  for (int i = 0; i < editing.entry_count(); ++i) {
    const EditEntry& entry = editing.entry(i);
    // The edits that the entry adds.
    const std::size_t kept = entry.before.size() - replaced_edits(entry);
    if (has(std::span(entry.after).subspan(kept))) return true;
  }
  return std::ranges::any_of(editing.named(),
                             [&](const NamedState& state) { return has(state.history); });
}

PlanHistory::PlanHistory(SacSession& session, QObject* parent)
    : QObject(parent), session_(session) {}

std::optional<Result<Figures>> PlanHistory::find(const EditHistory& history) {
  const SnapshotPtr baseline = session_.open_graph().baseline();
  if (baseline != baseline_) {
    baseline_ = baseline;
    known_.clear();
    wanted_.clear();
  }
  if (const auto known = known_.find(history); known != known_.end()) return known->second;
  if (std::ranges::find(wanted_, history) == wanted_.end()) wanted_.push_back(history);
  pump();
  return std::nullopt;
}

void PlanHistory::pump() {
  if (is_asking_ || wanted_.empty()) return;
  if (session_.problem().isEmpty()) session_.start();
  is_asking_ = true;
  const EditHistory history = wanted_.front();
  session_.find_ordered(
      history, this, [this, history, baseline = baseline_](const Result<OrderedFigures>& found) {
        is_asking_ = false;
        if (baseline == baseline_) {
          known_.emplace(history,
                         found.map([](const OrderedFigures& plan) { return plan.figures; }));
          std::erase(wanted_, history);
        }
        emit changed();
        pump();
      });
}

}  // namespace jointer::views
