#pragma once

#include <QToolButton>
#include <QWidget>

#include "views/graph/graph_view.h"

namespace jointer::views {

// The bar above the ladder. Its buttons color boxes, outline kernels, show the selected node,
// collapse rows, zoom, and export an image.
class GraphBar : public QWidget {
  Q_OBJECT
 public:
  GraphBar(Document& document, GraphView& graph, QWidget* parent = nullptr);

 signals:
  // An image was saved.
  void message(const QString& message);

 private:
  QToolButton* add_menu_button(const QString& text, const QString& tip, const QString& name);
  void show_color(LadderColor color);
  void export_picture(const QString& suffix, bool whole);

  Document& document_;
  GraphView& graph_;
  QToolButton* color_ = nullptr;
  QString last_folder_;
};

}  // namespace jointer::views
