#pragma once

#include <QFrame>

#include "core/graph/graph.h"

namespace jointer::views {

// "10,944 nodes · 5 derived facts · 1 warning"
QString graph_summary(const Graph& graph);

// A popup that lists a graph's warnings, assumptions and derived facts. A click outside of it or
// Esc closes it.
class FactsPopup : public QFrame {
  Q_OBJECT
 public:
  explicit FactsPopup(const Graph& graph, QWidget* parent = nullptr);
  // Shows the popup above the widget, within the screen.
  void show_above(const QWidget& anchor);
};

}  // namespace jointer::views
