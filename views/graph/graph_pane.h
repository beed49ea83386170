#pragma once

#include <QWidget>

#include "views/graph/graph_bar.h"
#include "views/graph/graph_view.h"

namespace jointer::views {

// A document's ladder and the bar above it.
class GraphPane : public QWidget {
  Q_OBJECT
 public:
  explicit GraphPane(Document& document, QWidget* parent = nullptr);

  [[nodiscard]] GraphView& view() const { return *view_; }

 signals:
  // A message for the status bar.
  void message(const QString& message);

 private:
  GraphView* view_ = nullptr;
};

}  // namespace jointer::views
