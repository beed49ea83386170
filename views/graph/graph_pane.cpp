#include "views/graph/graph_pane.h"

#include "views/widgets/controls.h"

namespace jointer::views {

GraphPane::GraphPane(Document& document, QWidget* parent)
    : QWidget(parent), view_(new GraphView(document, this)) {
  QVBoxLayout* column = make_column(this, {}, 0);
  auto* bar = new GraphBar(document, *view_, this);
  column->addWidget(bar);
  column->addWidget(view_, 1);
  connect(bar, &GraphBar::message, this, &GraphPane::message);
  connect(&view_->model(), &LadderModel::layout_failed, this, &GraphPane::message);
  setFocusProxy(view_);
  setAccessibleName(tr("Graph"));
}

}  // namespace jointer::views
