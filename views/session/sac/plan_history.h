#pragma once

#include <QObject>
#include <deque>
#include <map>
#include <optional>

#include "core/schedule/what_if.h"
#include "views/session/edit/edit_history.h"

namespace jointer::views {

class SacSession;

// Returns true if the states of a document should show the estimates of their plans: if the graph
// is a joint graph or a flat training step, and a history entry or a named state sets policies or
// requests a plan.
bool shows_plans(const SacSession& session);

// The estimates of the plan at each state of a joint graph or of a flat training step, in the order
// that a search found for the plan, if there is one; the graph's own estimates ignore the plan.
// They are computed in the background, one state at a time, and remembered.
class PlanHistory : public QObject {
  Q_OBJECT
 public:
  // `session` must outlive this object.
  explicit PlanHistory(SacSession& session, QObject* parent = nullptr);

  [[nodiscard]] bool has_plans() const { return shows_plans(session_); }
  // The estimates of the plan at this state, or why it has no plan. nullopt while they are being
  // computed; `changed` follows.
  std::optional<Result<Figures>> find(const EditHistory& history);

 signals:
  void changed();

 private:
  void pump();

  SacSession& session_;
  SnapshotPtr baseline_;  // `known_` and `wanted_` are for this graph and its options
  std::map<EditHistory, Result<Figures>> known_;
  std::deque<EditHistory> wanted_;
  bool is_asking_ = false;
};

}  // namespace jointer::views
