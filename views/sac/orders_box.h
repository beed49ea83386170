#pragma once

#include <QCheckBox>

#include "views/session/sac/pareto_search.h"

namespace jointer::views {

// Chooses whether searches find an order for each plan (ParetoSearch::orders). All boxes of a
// session show the same choice.
class OrdersBox : public QCheckBox {
  Q_OBJECT
 public:
  explicit OrdersBox(ParetoSearch& search, QWidget* parent = nullptr);
  // Shows the box only for a graph in which orders have an effect; `state` may be null.
  void show_for(const SacStatePtr& state);
  [[nodiscard]] static QString explanation();
};

// Chooses whether orders may use additional process groups (ParetoSearch::twin_groups). Enabled
// only if searches find orders.
class TwinGroupsBox : public QCheckBox {
  Q_OBJECT
 public:
  explicit TwinGroupsBox(ParetoSearch& search, QWidget* parent = nullptr);
  void show_for(const SacStatePtr& state);
  [[nodiscard]] static QString explanation();
};

}  // namespace jointer::views
