#pragma once

#include <QObject>
#include <QString>
#include <optional>

#include "core/edit/edit.h"
#include "core/partition/plan_target.h"
#include "core/policy/trade_off.h"
#include "views/session/sac/sac_state.h"
#include "views/session/work/task.h"

namespace jointer::views {

// Searches on a worker thread for the shortest list of changes that meets a target, and then for
// the fastest plan within the target's peak, without its other conditions. Both may change tags that
// an earlier search set in a flat training step. A new search replaces a running one.
class TargetSearch : public QObject {
  Q_OBJECT
 public:
  struct Found {
    SacStatePtr state;  // before the changes
    PlanTarget target;
    ChangeList list;
  };

  explicit TargetSearch(QObject* parent = nullptr);
  ~TargetSearch() override;
  TargetSearch(const TargetSearch&) = delete;
  TargetSearch& operator=(const TargetSearch&) = delete;

  // Requires `state->can_change()`.
  void find(const SacStatePtr& state, const PlanTarget& target);
  void cancel();
  [[nodiscard]] bool is_running() const { return list_.is_running() || best_search_.is_running(); }
  // The latest list; null until there is one.
  [[nodiscard]] const Found* found() const { return found_ ? &*found_ : nullptr; }
  // The fastest plan within the target's peak, without its other conditions; null until it is found.
  [[nodiscard]] const Fit* best() const { return best_ ? &*best_ : nullptr; }

 signals:
  void changed();
  void failed(const QString& sentence);

 private:
  void find_best();

  Task<ChangeList> list_;  // at most one of the two tasks is running
  Task<Fit> best_search_;
  std::optional<Found> found_;
  std::optional<Fit> best_;
};

// An edit that sets the policies of the values in the list. `graph`: the joint graph to which their
// ids refer. For a flat training step, use SacSession::apply_plan with the plan of the list instead.
Edit edit_of(const ChangeList& list, const Graph& graph, const QString& title);

}  // namespace jointer::views
