#include "views/graph/ladder_steps.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace jointer::views {

using Kind = LadderStep::Kind;

LadderStep step_rows(const LadderPosition& from, int direction) {
  const LadderLayout& layout = from.model.layout();
  const LadderMarks& marks = from.marks;
  const auto items = layout.items();
  if (items.empty()) return {};
  std::int32_t index = marks.focus_row >= 0            ? layout.item_of_row(marks.focus_row)
                       : marks.current_place.item >= 0 ? marks.current_place.item
                                                       : (direction > 0 ? -1 : 0);
  const bool from_node = marks.focus_row < 0 && marks.current_place.node >= 0;
  if (!from_node || direction > 0) index += direction;
  index = std::clamp(index, 0, static_cast<std::int32_t>(items.size()) - 1);
  return {Kind::select_row, layout.item(index).row, from_node ? marks.current_side : from.side};
}

LadderStep step_nodes(const LadderPosition& from, bool is_vertical, int direction) {
  const LadderLayout& layout = from.model.layout();
  const LadderPlace place = from.marks.current_place;
  if (from.marks.focus_row >= 0 || place.node < 0) return {};
  const LadderItem& item = layout.item(place.item);
  const LadderSide side = from.marks.current_side;
  const LadderRect here = layout.node_box(item, side, static_cast<std::size_t>(place.node));
  const auto boxes = from.model.ladder().boxes(item.row, side);
  double nearest = std::numeric_limits<double>::max();
  std::optional<std::size_t> best;
  for (std::size_t n = 0; n < boxes.size(); ++n) {
    const LadderRect there = layout.node_box(item, side, n);
    const double dx = there.x - here.x, dy = there.y - here.y;
    const double along = direction * (is_vertical ? dy : dx);
    const double across = std::abs(is_vertical ? dx : dy);
    if (along < 1 || (!is_vertical && across > 1)) continue;
    // Prefer the next rank and, within it, the nearest node.
    const double distance = along * 1e4 + across;
    if (distance >= nearest) continue;
    nearest = distance;
    best = n;
  }
  if (!best) return {};
  return {Kind::select_node, item.row, side, *best};
}

LadderStep step_in(const LadderPosition& from) {
  const LadderLayout& layout = from.model.layout();
  const Ladder& ladder = from.model.ladder();
  const int row = from.marks.focus_row;
  if (row < 0) return {};
  if (!from.model.is_open(row)) return {Kind::open_row, row, from.side};
  if (!ladder.is_leaf(row)) return step_rows(from, 1);
  const auto boxes = ladder.boxes(row, from.side);
  const LadderItem& item = layout.item(layout.item_of_row(row));
  if (boxes.empty() || !item.group) return {};
  // Select the topmost node.
  std::size_t top = 0;
  for (std::size_t n = 1; n < boxes.size(); ++n)
    if (layout.node_box(item, from.side, n).y < layout.node_box(item, from.side, top).y) top = n;
  return {Kind::select_node, row, from.side, top};
}

LadderStep step_out(const LadderPosition& from) {
  const LadderMarks& marks = from.marks;
  if (marks.focus_row < 0) {
    if (marks.current_place.item < 0) return {};
    return {Kind::select_row, from.model.layout().item(marks.current_place.item).row,
            marks.current_side};
  }
  if (from.model.is_open(marks.focus_row)) return {Kind::close_row, marks.focus_row, from.side};
  const int parent = from.model.ladder().row(marks.focus_row).parent;
  if (parent < 0) return {};
  return {Kind::select_row, parent, from.side};
}

}  // namespace jointer::views
