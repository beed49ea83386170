// Input handling of GraphView: mouse, keyboard and context menu.

#include <QApplication>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QKeyEvent>
#include <QMenu>
#include <QMouseEvent>
#include <algorithm>
#include <cmath>
#include <limits>

#include "views/graph/graph_view.h"
#include "views/session/text/node_text.h"

namespace jointer::views {
namespace {

constexpr double kZoomStep = 1.25;
constexpr int kDragDistance = 4;
constexpr double kWheelPixels = 60;  // per notch

}  // namespace

LadderHit GraphView::hit(QPoint at) const {
  const QRect in = area();
  if (!in.contains(at)) return {};
  return hit_ladder(*layout_, view_, at.x() - in.left() + 0.5, at.y() - in.top() + 0.5);
}

// --- Pointer ---

void GraphView::mousePressEvent(QMouseEvent* event) {
  press_ = last_ = event->pos();
  if (event->button() != Qt::LeftButton && event->button() != Qt::MiddleButton) return;
  if (minimap_area().contains(press_) && event->button() == Qt::LeftButton) {
    drag_ = Drag::minimap;
    move_minimap(press_.y());
  } else {
    drag_ = event->button() == Qt::MiddleButton ? Drag::pan : Drag::maybe;
  }
}

void GraphView::mouseMoveEvent(QMouseEvent* event) {
  const QPoint at = event->pos();
  if (drag_ == Drag::maybe && (at - press_).manhattanLength() > kDragDistance &&
      area().contains(press_)) {
    drag_ = Drag::pan;
    viewport()->setCursor(Qt::ClosedHandCursor);
  }
  if (drag_ == Drag::pan) {
    LadderView view = view_;
    view.x -= at.x() - last_.x();
    view.y -= at.y() - last_.y();
    set_view(view);
  } else if (drag_ == Drag::minimap) {
    move_minimap(at.y());
  } else {
    const LadderHit under = hit(at);
    if (under.link != hovered_link_) {
      hovered_link_ = under.link;
      refresh();
    }
    viewport()->setCursor(under.is_toggle ? Qt::PointingHandCursor : Qt::ArrowCursor);
  }
  last_ = at;
  hover_ = at;
  viewport()->update();
}

void GraphView::mouseReleaseEvent(QMouseEvent* event) {
  if (drag_ == Drag::maybe && event->button() == Qt::LeftButton)
    click(event->pos(), event->modifiers());
  drag_ = Drag::none;
  viewport()->unsetCursor();
}

void GraphView::mouseDoubleClickEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return;
  const LadderHit under = hit(event->pos());
  // The first click of the double-click has already toggled it.
  if (under.place.item < 0 || under.is_toggle || under.place.node >= 0) return;
  focus_side_ = under.side.value_or(LadderSide::forward);
  toggle_row(layout_->item(under.place.item).row);
}

void GraphView::wheelEvent(QWheelEvent* event) {
  const QPointF delta = QPointF(event->angleDelta()) / 120.0;
  const QPointF at = event->position() - area().topLeft();
  LadderView view = view_;
  if (event->modifiers().testFlag(Qt::ControlModifier)) {
    view.zoom_at(at.x(), at.y(), std::pow(kZoomStep, delta.y()));
  } else {
    const bool sideways = event->modifiers().testFlag(Qt::ShiftModifier);
    const double dx = sideways ? delta.y() : delta.x(), dy = sideways ? 0 : delta.y();
    // Stay within the ends; from beyond an end, only move back.
    const auto moved = [](double offset, double by, double whole, double size) {
      const double end = std::max(whole - size, 0.0);
      return by > 0 ? std::min(offset, std::max(offset - by, 0.0))
                    : std::max(offset, std::min(offset - by, end));
    };
    view.x = moved(view.x, dx * kWheelPixels, layout_->width() * view.scale, view.width);
    view.y = moved(view.y, dy * kWheelPixels, layout_->height() * view.scale, view.height);
  }
  hover_ = event->position().toPoint();
  set_view(view);
  event->accept();
}

void GraphView::move_minimap(int y) {
  const QRect map = minimap_area();
  LadderView view = view_;
  const double share =
      std::clamp(static_cast<double>(y - map.top()) / std::max(map.height(), 1), 0.0, 1.0);
  const double whole = layout_->height() * view.scale;
  view.y = std::clamp(share * whole - view.height / 2, 0.0, std::max(whole - view.height, 0.0));
  set_view(view);
}

void GraphView::click(QPoint at, Qt::KeyboardModifiers modifiers) {
  const LadderHit under = hit(at);
  if (under.link) return select_link(*under.link, modifiers);
  if (under.is_nothing()) return;
  const int row = layout_->item(under.place.item).row;
  focus_side_ = *under.side;
  if (under.is_toggle) return toggle_row(row);
  if (under.place.node >= 0) {
    focus_key_.clear();
    const NodeId node =
        ladder_->boxes(row, *under.side)[static_cast<std::size_t>(under.place.node)];
    return select({node}, node, modifiers);
  }
  select_row(row, *under.side, modifiers);
}

void GraphView::select(std::vector<NodeId> nodes, NodeId current, Qt::KeyboardModifiers modifiers) {
  Selection& selection = document_.selection();
  is_selecting_ = true;
  if (modifiers.testFlag(Qt::ControlModifier) && nodes.size() == 1) {
    selection.toggle(nodes.front());
  } else {
    if (modifiers & (Qt::ControlModifier | Qt::ShiftModifier))
      nodes.insert(nodes.end(), selection.nodes().begin(), selection.nodes().end());
    selection.select_all(std::move(nodes), current);
  }
  is_selecting_ = false;
  refresh_marks();
  refresh();
}

void GraphView::focus_on(int row, LadderSide side) {
  focus_key_ = ladder_->row(row).key;
  focus_side_ = side;
}

void GraphView::select_row(int row, LadderSide side, Qt::KeyboardModifiers modifiers) {
  focus_on(row, side);
  std::vector<NodeId> nodes = ladder_->nodes(row, side);
  // Selecting a module selects its calls, or its parameters if it has no calls.
  std::vector<NodeId> calls;
  std::copy_if(nodes.begin(), nodes.end(), std::back_inserter(calls),
               [this](NodeId id) { return snapshot_->graph.node(id).kind == NodeKind::call; });
  if (!calls.empty()) nodes = std::move(calls);
  const NodeId first = nodes.empty() ? NodeId{} : nodes.front();
  select(std::move(nodes), first, modifiers);
  show_place(layout_->box(layout_->item(layout_->item_of_row(row)), side));
}

void GraphView::select_link(std::size_t link, Qt::KeyboardModifiers modifiers) {
  std::vector<NodeId> producers;
  for (const std::uint32_t rung : layout_->link_rungs(layout_->links()[link]))
    producers.push_back(ladder_->rungs()[rung].producer);
  focus_key_.clear();
  const NodeId first = producers.front();
  select(std::move(producers), first, modifiers);
}

void GraphView::select_identical(int row, std::optional<NodeId> node) {
  std::vector<NodeId> nodes;
  const LadderSide side = node ? side_of(snapshot_->graph.node(*node)) : focus_side_;
  const auto here = node ? ladder_->boxes(row, side) : std::span<const NodeId>{};
  const auto index = node ? std::find(here.begin(), here.end(), *node) - here.begin() : 0;
  for (const int same : ladder_->identical(row)) {
    if (!node) {
      const auto of_row = ladder_->nodes(same);
      nodes.insert(nodes.end(), of_row.begin(), of_row.end());
    } else if (const auto boxes = ladder_->boxes(same, side);
               static_cast<std::size_t>(index) < boxes.size()) {
      nodes.push_back(boxes[static_cast<std::size_t>(index)]);
    }
  }
  const NodeId current = node.value_or(nodes.empty() ? NodeId{} : nodes.front());
  select(std::move(nodes), current, {});
}

// --- Keys ---

KeysGroup GraphView::keys() {
  return {tr("Graph"),
          {{tr("Click, Ctrl+Click"), tr("Select; select more")},
           {tr("Double-click, Enter"), tr("Expand or collapse a row")},
           {tr("Up, Down"), tr("Go to the row or node above or below")},
           {tr("Right, Left"), tr("Expand a row and step into it; step out and collapse it")},
           {tr("Ctrl+Left, Ctrl+Right"), tr("Go to the forward or backward side of a row")},
           {tr("[, ]"), tr("Go to an input or a user of the node")},
           {tr("Z"), tr("Expand the rows around the selected node and show it")},
           {tr("Wheel, drag"), tr("Pan; with Shift, horizontally")},
           {tr("Ctrl+Wheel, W, S"), tr("Zoom at the pointer")},
           {tr("F, 1"), tr("Show the whole ladder; full size")}}};
}

// The window also uses some of these keys; here they belong to the ladder.
bool GraphView::event(QEvent* event) {
  if (event->type() == QEvent::ShortcutOverride) {
    const auto* key = static_cast<QKeyEvent*>(event);
    const bool is_plain = (key->modifiers() & ~Qt::KeypadModifier) == Qt::NoModifier;
    for (const int own : {Qt::Key_F, Qt::Key_Z, Qt::Key_BracketLeft, Qt::Key_BracketRight})
      if (is_plain && key->key() == own) {
        event->accept();
        return true;
      }
  }
  return QAbstractScrollArea::event(event);
}

void GraphView::keyPressEvent(QKeyEvent* event) {
  const bool with_control = event->modifiers().testFlag(Qt::ControlModifier);
  if (event->modifiers() & (Qt::AltModifier | Qt::MetaModifier))
    return QAbstractScrollArea::keyPressEvent(event);
  if (with_control && (event->key() == Qt::Key_Left || event->key() == Qt::Key_Right)) {
    const LadderSide side =
        event->key() == Qt::Key_Left ? LadderSide::forward : LadderSide::backward;
    if (marks_.focus_row >= 0 && ladder_->has(side)) select_row(marks_.focus_row, side);
    return;
  }
  if (with_control) return QAbstractScrollArea::keyPressEvent(event);
  switch (event->key()) {
    case Qt::Key_Up:
    case Qt::Key_Down:
      if (!step_nodes(event->key())) step_rows(event->key() == Qt::Key_Up ? -1 : 1);
      return;
    case Qt::Key_Left:
      if (!step_nodes(event->key())) step_out();
      return;
    case Qt::Key_Right:
      if (!step_nodes(event->key())) step_in();
      return;
    case Qt::Key_Home:
    case Qt::Key_End:
      if (!layout_->items().empty())
        select_row(event->key() == Qt::Key_Home ? layout_->items().front().row
                                                : layout_->items().back().row,
                   focus_side_);
      return;
    case Qt::Key_Return:
    case Qt::Key_Enter:
      if (marks_.focus_row >= 0) toggle_row(marks_.focus_row);
      return;
    case Qt::Key_F:
      return fit();
    case Qt::Key_1:
      return full_size();
    case Qt::Key_W:
    case Qt::Key_Plus:
      return zoom(kZoomStep);
    case Qt::Key_S:
    case Qt::Key_Minus:
      return zoom(1 / kZoomStep);
    case Qt::Key_Z:
      return show_selection();
    case Qt::Key_BracketRight:
      return follow_flow(true);
    case Qt::Key_BracketLeft:
      return follow_flow(false);
    default:
      QAbstractScrollArea::keyPressEvent(event);
  }
}

void GraphView::step_rows(int direction) {
  const auto items = layout_->items();
  if (items.empty()) return;
  std::int32_t index = marks_.focus_row >= 0            ? layout_->item_of_row(marks_.focus_row)
                       : marks_.current_place.item >= 0 ? marks_.current_place.item
                                                        : (direction > 0 ? -1 : 0);
  // Up from a node goes to the row that contains it.
  const bool from_node = marks_.focus_row < 0 && marks_.current_place.node >= 0;
  if (!from_node || direction > 0) index += direction;
  index = std::clamp(index, 0, static_cast<std::int32_t>(items.size()) - 1);
  select_row(layout_->item(index).row, from_node ? marks_.current_side : focus_side_);
}

// Moves between nodes within a group. Returns false if no node is current or none is in that
// direction.
bool GraphView::step_nodes(int key) {
  const LadderPlace place = marks_.current_place;
  if (marks_.focus_row >= 0 || place.node < 0) return false;
  const LadderItem& item = layout_->item(place.item);
  const LadderSide side = marks_.current_side;
  const LadderRect here = layout_->node_box(item, side, static_cast<std::size_t>(place.node));
  const auto boxes = ladder_->boxes(item.row, side);
  const bool is_vertical = key == Qt::Key_Up || key == Qt::Key_Down;
  const double sign = key == Qt::Key_Down || key == Qt::Key_Right ? 1 : -1;
  double nearest = std::numeric_limits<double>::max();
  std::optional<std::size_t> best;
  for (std::size_t n = 0; n < boxes.size(); ++n) {
    const LadderRect there = layout_->node_box(item, side, n);
    const double dx = there.x - here.x, dy = there.y - here.y;
    const double along = sign * (is_vertical ? dy : dx);
    const double across = std::abs(is_vertical ? dx : dy);
    if (along < 1 || (!is_vertical && across > 1)) continue;
    // Prefer the next rank, then the nearest node in it.
    const double distance = along * 1e4 + across;
    if (distance >= nearest) continue;
    nearest = distance;
    best = n;
  }
  if (!best) return false;
  const NodeId node = boxes[*best];
  select({node}, node, {});
  show_place(layout_->node_box(item, side, *best));
  return true;
}

void GraphView::step_in() {
  const int row = marks_.focus_row;
  if (row < 0) return;
  if (!is_open(row)) return open_row(row);
  if (!ladder_->is_leaf(row)) return step_rows(1);
  const auto boxes = ladder_->boxes(row, focus_side_);
  const LadderItem& item = layout_->item(layout_->item_of_row(row));
  if (boxes.empty() || !item.group) return;
  focus_key_.clear();
  // Start at the topmost visible row.
  std::size_t top = 0;
  for (std::size_t n = 1; n < boxes.size(); ++n)
    if (layout_->node_box(item, focus_side_, n).y < layout_->node_box(item, focus_side_, top).y)
      top = n;
  select({boxes[top]}, boxes[top], {});
  show_place(layout_->node_box(item, focus_side_, top));
}

void GraphView::step_out() {
  if (marks_.focus_row < 0) {
    if (marks_.current_place.item >= 0)
      select_row(layout_->item(marks_.current_place.item).row, marks_.current_side);
    return;
  }
  if (is_open(marks_.focus_row)) return close_row(marks_.focus_row);
  if (const int parent = ladder_->row(marks_.focus_row).parent; parent >= 0)
    select_row(parent, focus_side_);
}

// --- Menu ---

void GraphView::contextMenuEvent(QContextMenuEvent* event) {
  LadderHit under;
  if (event->reason() == QContextMenuEvent::Keyboard) {
    if (marks_.focus_row >= 0)
      under = {.place = {layout_->item_of_row(marks_.focus_row), -1}, .side = focus_side_};
    else
      under = {.place = marks_.current_place, .side = marks_.current_side};
  } else {
    under = hit(event->pos());
  }
  auto* menu = new QMenu(this);
  menu->setAttribute(Qt::WA_DeleteOnClose);
  fill_menu(*menu, under);
  menu->popup(event->globalPos());
}

void GraphView::fill_menu(QMenu& menu, const LadderHit& under) {
  if (under.place.item >= 0) {
    const int row = layout_->item(under.place.item).row;
    const LadderSide side = under.side.value_or(LadderSide::forward);
    const LadderRow& r = ladder_->row(row);
    const std::optional<NodeId> node =
        under.place.node >= 0
            ? std::optional(ladder_->boxes(row, side)[static_cast<std::size_t>(under.place.node)])
            : std::nullopt;
    const QString path = QString::fromStdString(r.path.empty() ? r.name : r.path);
    menu.addAction(is_open(row) ? tr("&Collapse") : tr("&Expand"), this, [this, row, side] {
      focus_side_ = side;
      toggle_row(row);
    });
    menu.addAction(tr("Expand &All Below"), this, [this, row] { open_all(row); });
    menu.addAction(tr("Co&llapse All Below"), this, [this, row] { close_all(row); });
    menu.addSeparator();
    menu.addAction(tr("&Select All Nodes of %1").arg(path), this, [this, row] {
      focus_on(row, LadderSide::forward);
      std::vector<NodeId> nodes = ladder_->nodes(row);
      const NodeId first = nodes.empty() ? NodeId{} : nodes.front();
      select(std::move(nodes), first, {});
    });
    QAction* identical = menu.addAction(node ? tr("Select This Node in All &Identical Modules")
                                             : tr("Select All &Identical Modules"),
                                        this, [this, row, node] { select_identical(row, node); });
    identical->setEnabled(ladder_->identical(row).size() > 1);
    menu.addAction(tr("Copy &Name"), this, [this, path, node] {
      QApplication::clipboard()->setText(node ? to_qstring(snapshot_->graph.name(*node)) : path);
    });
    // Actions of the window that apply to the selection.
    for (QAction* action : node ? actions() : QList<QAction*>())
      menu.addAction(action->text(), this, [this, action, node] {
        select({*node}, *node, {});
        action->trigger();
      });
    menu.addSeparator();
  }
  QAction* show = menu.addAction(tr("Show Selected &Node"), this, &GraphView::show_selection);
  show->setEnabled(static_cast<bool>(marks_.current));
  menu.addAction(tr("Collapse All &Rows"), this, [this] { close_all(-1); });
  menu.addAction(tr("Show &Whole Ladder"), this, &GraphView::fit);
}

}  // namespace jointer::views
