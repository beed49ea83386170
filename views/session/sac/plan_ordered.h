#pragma once

#include <QObject>
#include <optional>
#include <string>

#include "views/session/sac/ordered_plan.h"
#include "views/session/work/latest_value.h"

namespace jointer::views {

// The estimates of the current plan in the order that a search found for it: the same as after
// opening the plan's pair, or after applying the tags of a flat training step. Computing them runs
// passes, so they are computed on another thread, and arrive later than the plan's other estimates.
class PlanOrdered : public QObject {
  Q_OBJECT
 public:
  explicit PlanOrdered(QObject* parent = nullptr);

  // Starts computing the estimates of this state, unless it is null or its plan has no order.
  void follow(const SacStatePtr& state);
  // Returns true if the current plan has an order.
  [[nodiscard]] bool has_order() const { return has_order_; }
  // The estimates in the order found; nullopt until they are known.
  [[nodiscard]] const std::optional<OrderedFigures>& figures() const { return found_.value(); }
  // Why the estimates in the order found cannot be computed, in one sentence; otherwise empty.
  [[nodiscard]] const std::string& problem() const { return found_.problem(); }
  [[nodiscard]] bool is_settled() const { return found_.is_settled(); }

 signals:
  void changed();

 private:
  bool has_order_ = false;
  LatestValue<OrderedPlan, OrderedFigures> found_;
};

}  // namespace jointer::views
