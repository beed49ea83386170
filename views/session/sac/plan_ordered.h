#pragma once

#include <QObject>
#include <QTimer>
#include <deque>
#include <optional>
#include <string>

#include "views/session/sac/ordered_plan.h"
#include "views/session/work/task.h"

namespace jointer::views {

// The estimates of the current plan in the order that a search found for it: the same as after
// opening the plan's pair, or after applying the tags of a flat training step. Computing them runs
// passes, so they are computed on another thread, and arrive later than the plan's other estimates.
class PlanOrdered : public QObject {
  Q_OBJECT
 public:
  explicit PlanOrdered(QObject* parent = nullptr);
  ~PlanOrdered() override;
  PlanOrdered(const PlanOrdered&) = delete;
  PlanOrdered& operator=(const PlanOrdered&) = delete;

  // Starts computing the estimates of this state, unless it is null or its plan has no order.
  void follow(SacStatePtr state);
  // Returns true if the current plan has an order.
  [[nodiscard]] bool has_order() const { return state_ && !state_->order.empty(); }
  // The estimates in that order; nullopt until they are known.
  [[nodiscard]] const std::optional<OrderedFigures>& figures() const { return figures_; }
  // Why the estimates in that order cannot be computed, in one sentence; otherwise empty.
  [[nodiscard]] const QString& problem() const { return problem_; }
  [[nodiscard]] bool is_settled() const { return !soon_.isActive() && !finding_.is_running(); }

 signals:
  void changed();

 private:
  struct Plan {
    SacBasePtr base;
    SacStepPtr step;
    SavePlan plan;
    std::string order;
    friend bool operator==(const Plan&, const Plan&) = default;
  };
  struct Known {
    Plan plan;
    OrderedFigures figures;
  };
  static Plan plan_of(const SacState& state);
  void find();

  SacStatePtr state_;
  std::optional<OrderedFigures> figures_;
  QString problem_;
  std::deque<Known> known_;  // newest first
  QTimer soon_;
  Task<OrderedFigures> finding_;
};

}  // namespace jointer::views
