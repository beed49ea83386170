#pragma once

// Where the ladder's boxes are in the viewport of a graph view.

#include <QRect>

#include "views/graph/graph_view.h"

namespace jointer::test {

inline QRect place_of_box(views::GraphView& view, const views::LadderRect& box) {
  const views::LadderView& shown = view.scroll().view();
  const QPoint origin = view.area().topLeft();
  return QRectF(shown.to_x(box.x) + origin.x(), shown.to_y(box.y) + origin.y(),
                box.width * shown.scale, box.height * shown.scale)
      .toAlignedRect();
}

// Empty if the row is not visible: one that contains it is collapsed.
inline QRect place_of_row(views::GraphView& view, int row, views::LadderSide side) {
  const views::LadderLayout& layout = view.model().layout();
  const std::int32_t index = layout.item_of_row(row);
  if (index < 0 || layout.item(index).row != row) return {};
  return place_of_box(view, layout.box(layout.item(index), side));
}

// Empty if its group is not expanded.
inline QRect place_of_node(views::GraphView& view, NodeId node) {
  const views::LadderModel& model = view.model();
  const Graph& graph = model.snapshot().graph;
  const views::LadderLayout& layout = model.layout();
  const views::LadderPlace at = layout.place_of(model.ladder(), graph, node);
  if (at.item < 0 || at.node < 0) return {};
  return place_of_box(view, layout.node_box(layout.item(at.item), views::side_of(graph.node(node)),
                                            static_cast<std::size_t>(at.node)));
}

}  // namespace jointer::test
