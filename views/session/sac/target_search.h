#pragma once

#include <QObject>
#include <QString>
#include <optional>

#include "core/edit/edit.h"
#include "core/partition/plan_target.h"
#include "core/policy/ordered_list.h"
#include "core/policy/trade_off.h"
#include "views/session/sac/pareto_search.h"
#include "views/session/sac/sac_state.h"
#include "views/session/work/task.h"

namespace jointer::views {

// Searches on a worker thread for the shortest list of changes that meets a target, then for an
// order for its plan, and then for the fastest plan within the target's peak, without its other
// conditions. Lists and plans may change tags that an earlier search set in a flat training step. A
// new search replaces a running one.
class TargetSearch : public QObject {
  Q_OBJECT
 public:
  struct Outcome {
    SacStatePtr state;  // before the changes
    PlanTarget target;
    ChangeList list;
    // The order found for the list's plan, without passes if none is better than the plan's own.
    // nullopt until the search ends, and if there is no search because the settings rule it out,
    // the graph does not communicate, or the list needs no order.
    std::optional<PlanOrder> order = {};

    // The estimates after the list, in its order if that is known.
    [[nodiscard]] const Figures& figures() const {
      return order ? order->figures : list.figures.figures;
    }
    // Returns true if these estimates meet the target.
    [[nodiscard]] bool is_reached() const {
      return order ? jointer::is_reached(*order, target) : list.is_reached;
    }
  };

  explicit TargetSearch(QObject* parent = nullptr);

  // Requires `state->can_change()`. Only the choice of orders in `settings` has an effect.
  void find(const SacStatePtr& state, const PlanTarget& target,
            const ParetoSearch::Settings& settings);
  void cancel();
  [[nodiscard]] bool is_running() const {
    return list_.is_running() || ordering_.is_running() || best_search_.is_running();
  }
  // Returns true while an order is searched for the list found.
  [[nodiscard]] bool is_ordering() const { return ordering_.is_running(); }
  // The latest list; null until there is one.
  [[nodiscard]] const Outcome* outcome() const { return outcome_ ? &*outcome_ : nullptr; }
  // The fastest plan found within the target's peak, without its other conditions, or the nearest
  // plan if none fits; null until that search has ended.
  [[nodiscard]] const Fit* best() const { return best_ ? &*best_ : nullptr; }

 signals:
  void changed();
  void failed(const QString& sentence);

 private:
  void find_order();
  void find_best();

  Task<ChangeList> list_;  // at most one of the three tasks is running
  Task<PlanOrder> ordering_;
  Task<Fit> best_search_;
  ParetoSearch::Settings settings_;
  ParetoSearch::Hidden hidden_;
  std::optional<Outcome> outcome_;
  std::optional<Fit> best_;
};

// An edit that sets the policies of the values in the list. Its `by` is that of the user's own
// decisions: the caller adds the order with decided_with. `graph`: the joint graph that the list's
// node ids refer to. For a flat training step, use SacSession::apply_plan with the plan of the list
// instead.
Edit edit_of(const ChangeList& list, const Graph& graph, const QString& title);

}  // namespace jointer::views
