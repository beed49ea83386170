#include "views/graph/graph_view.h"

#include <QContextMenuEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <cmath>

#include "core/base/index.h"
#include "views/graph/ladder_header.h"
#include "views/graph/ladder_menu.h"
#include "views/graph/ladder_picture.h"
#include "views/graph/ladder_text.h"
#include "views/session/kernels/kernel_source_text.h"
#include "views/session/kernels/kernel_text.h"
#include "views/theme/fonts.h"
#include "views/widgets/gestures.h"
#include "views/widgets/hover_card.h"

namespace jointer::views {
namespace {

constexpr int kMinimap = 52;
constexpr double kRevealRoom = 30;
constexpr double kWheelPixels = 60;  // per notch of the wheel

}  // namespace

GraphView::GraphView(Document& document, QWidget* parent)
    : QAbstractScrollArea(parent),
      document_(document),
      model_(document, area().width()),
      scroll_(model_, *horizontalScrollBar(), *verticalScrollBar()),
      selection_(document, model_),
      kernel_watch_(document, *viewport(), false) {
  setFrameShape(QFrame::NoFrame);
  setFocusPolicy(Qt::StrongFocus);
  viewport()->setMouseTracking(true);
  viewport()->setAttribute(Qt::WA_OpaquePaintEvent);
  setAccessibleName(tr("Graph"));
  setMinimumSize(240, 140);
  connect_parts();
  follow_layout();
}

void GraphView::connect_parts() {
  connect(&model_, &LadderModel::rows_about_to_change, this, [this](int row, LadderSide side) {
    row_anchor_ = row < 0 ? scroll_.anchor_on_screen() : scroll_.anchor_at(row, side);
    next_anchor_ = row_anchor_;
  });
  connect(&model_, &LadderModel::graph_about_to_change, this,
          [this] { next_anchor_ = scroll_.anchor_on_screen(); });
  connect(&model_, &LadderModel::layout_changed, this, &GraphView::follow_layout);
  connect(&model_, &LadderModel::settled, this, [this] {
    if (std::exchange(is_waiting_to_show_, false)) show_selection();
  });
  connect(&model_, &LadderModel::color_changed, this, [this] {
    minimap_.forget();
    refresh();
  });
  connect(&scroll_, &LadderScroll::changed, this, &GraphView::refresh);
  // Scroll to the row that contains the node without expanding the row.
  connect(&selection_, &LadderSelection::selected_elsewhere, this, [this] {
    is_waiting_to_show_ = false;
    reveal_current(kRevealRoom);
  });
  connect(&selection_, &LadderSelection::changed, this, &GraphView::refresh);
  connect(&document_.shown_kernels(), &ShownKernels::changed, this, [this] {
    if (shows_kernels_) follow_kernels();
  });
}

QRect GraphView::area() const {
  return viewport()->rect().adjusted(0, kLadderHeader, -kMinimap, -kLadderLegend);
}

QRect GraphView::minimap_area() const {
  const QRect all = viewport()->rect();
  return {all.right() + 1 - kMinimap + 6, kLadderHeader, kMinimap - 8,
          all.height() - kLadderHeader - kLadderLegend};
}

LadderScene GraphView::scene() const {
  return {model_.snapshot(),
          model_.ladder(),
          model_.layout(),
          model_.colors(),
          Theme::of(palette()),
          selection_.marks(),
          scroll_.view(),
          hovered_link_,
          kernels(),
          kernel_source_legend(document_.shown_kernels().source())};
}

QStringList GraphView::card_at(QPoint at) const {
  const QRect header(0, 0, viewport()->width(), kLadderHeader);
  if (const QString text = cut_heading_at(at, header, scene(), font()); !text.isEmpty())
    return {text};
  const LadderHit under = hit(at);
  QStringList lines = hit_lines(model_, under);
  const SnapshotKernels* outlined = kernels();
  const std::int32_t kernel = outlined == nullptr ? -1 : outlined->row_of(node_of(under));
  if (kernel < 0) return lines;
  const ShownKernels& shown = document_.shown_kernels();
  const QString state = shown.state_text();
  const QString source = kernel_source_title(shown.source());
  return lines << QString() << (state.isEmpty() ? source : tr("%1, %2").arg(source, state))
               << kernel_card_lines(*outlined, as_index(kernel));
}

// --- Kernels ---

void GraphView::set_show_kernels(bool show) {
  if (std::exchange(shows_kernels_, show) != show) follow_kernels();
}

void GraphView::follow_kernels() {
  const bool is_predicted = document_.shown_kernels().source() == ShownKernels::Source::predicted;
  kernel_watch_.set_needed(shows_kernels_ && is_predicted);
  refresh();
}

const SnapshotKernels* GraphView::kernels() const {
  return shows_kernels_ ? document_.shown_kernels().shown().get() : nullptr;
}

// The node that was hit; invalid if there is none.
NodeId GraphView::node_of(const LadderHit& under) const {
  if (under.place.item < 0 || under.place.node < 0 || !under.side) return {};
  const int row = model_.layout().item(under.place.item).row;
  return model_.ladder().boxes(row, *under.side)[as_index(under.place.node)];
}

// The kernels may be those of an earlier graph, with nodes that an edit has removed.
void GraphView::select_kernel_of(NodeId node) {
  const SnapshotKernels* outlined = kernels();
  const std::int32_t kernel = outlined == nullptr ? -1 : outlined->row_of(node);
  if (kernel < 0) return;
  selection_.select_nodes(document_.existing(outlined->kernel(as_index(kernel)).nodes), node);
}

void GraphView::follow_layout() {
  hovered_link_.reset();
  selection_.refresh_marks();
  scroll_.restore(next_anchor_, area().size());
  next_anchor_ = row_anchor_;
  minimap_.forget();
  refresh();
}

void GraphView::refresh() {
  frame_.forget();
  viewport()->update();
}

// --- Commands ---

void GraphView::zoom(double factor) {
  const QRect at = area();
  scroll_.zoom_at(hover_ && at.contains(*hover_) ? *hover_ - at.topLeft()
                                                 : QPoint(at.width() / 2, at.height() / 2),
                  factor);
}

void GraphView::close_all() {
  model_.close_all(-1);
  scroll_.to_top();
}

void GraphView::show_selection() {
  const int leaf = model_.ladder().row_of(document_.selection().current());
  if (leaf < 0) return;
  selection_.clear_focus();
  model_.open_path(leaf);
  // The layout of the row's nodes may still be pending.
  if (model_.groups().pending() > 0) is_waiting_to_show_ = true;
  reveal_current(scroll_.view().height / 3);
}

void GraphView::reveal_current(double room) {
  const LadderMarks& marks = selection_.marks();
  const LadderPlace place = marks.current_place;
  if (model_.ladder().row_of(document_.selection().current()) < 0 || place.item < 0) return;
  const LadderLayout& layout = model_.layout();
  const LadderItem& item = layout.item(place.item);
  scroll_.show_place(place.node < 0 ? layout.box(item, marks.current_side)
                                    : layout.node_box(item, marks.current_side,
                                                      static_cast<std::size_t>(place.node)),
                     room);
}

// --- Pointer ---

LadderHit GraphView::hit(QPoint at) const {
  const QRect in = area();
  if (!in.contains(at)) return {};
  return hit_ladder(model_.layout(), scroll_.view(), at.x() - in.left() + 0.5,
                    at.y() - in.top() + 0.5);
}

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
    scroll_.pan(at - last_);
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
  if (event->button() != Qt::LeftButton) return mousePressEvent(event);
  const LadderHit under = hit(event->pos());
  if (under.place.node >= 0) return select_kernel_of(node_of(under));
  // A toggle has already reacted to the first click of a double-click.
  if (under.place.item < 0 || under.is_toggle) return;
  selection_.set_side(under.side.value_or(LadderSide::forward));
  model_.toggle_row(model_.layout().item(under.place.item).row, selection_.side());
}

void GraphView::wheelEvent(QWheelEvent* event) {
  const QPointF delta = QPointF(event->angleDelta()) / 120.0;
  hover_ = event->position().toPoint();
  if (event->modifiers().testFlag(Qt::ControlModifier)) {
    scroll_.zoom_at(event->position() - area().topLeft(), std::pow(kZoomStep, delta.y()));
  } else {
    const bool sideways = event->modifiers().testFlag(Qt::ShiftModifier);
    scroll_.turn((sideways ? QPointF(delta.y(), 0) : delta) * kWheelPixels);
  }
  event->accept();
}

void GraphView::move_minimap(int y) {
  const QRect map = minimap_area();
  scroll_.center_at(
      std::clamp(static_cast<double>(y - map.top()) / std::max(map.height(), 1), 0.0, 1.0));
}

void GraphView::click(QPoint at, Qt::KeyboardModifiers modifiers) {
  const LadderHit under = hit(at);
  if (under.link) return selection_.select_link(*under.link, modifiers);
  if (under.is_empty()) return;
  const int row = model_.layout().item(under.place.item).row;
  const LadderSide side = *under.side;
  selection_.set_side(side);
  if (under.is_toggle) return model_.toggle_row(row, side);
  if (under.place.node >= 0) return selection_.select_node(node_of(under), modifiers);
  selection_.select_row(row, side, modifiers);
  const LadderLayout& layout = model_.layout();
  scroll_.show_place(layout.box(layout.item(layout.item_of_row(row)), side));
}

void GraphView::contextMenuEvent(QContextMenuEvent* event) {
  const LadderMarks& marks = selection_.marks();
  LadderHit under;
  if (event->reason() != QContextMenuEvent::Keyboard)
    under = hit(event->pos());
  else if (marks.focus_row >= 0)
    under = {.place = {model_.layout().item_of_row(marks.focus_row), -1},
             .side = selection_.side()};
  else
    under = {.place = marks.current_place, .side = marks.current_side};
  auto* menu = new QMenu(this);
  menu->setAttribute(Qt::WA_DeleteOnClose);
  add_ladder_actions(*menu, model_, selection_, under, actions());
  if (const NodeId node = node_of(under); kernels() != nullptr && kernels()->row_of(node) >= 0)
    menu->addAction(tr("Select Nodes of the Same &Kernel"), this,
                    [this, node] { select_kernel_of(node); });
  QAction* show = menu->addAction(tr("S&how Selected Node"), this, &GraphView::show_selection);
  show->setEnabled(static_cast<bool>(marks.current));
  menu->addAction(tr("Collapse All &Rows"), this, &GraphView::close_all);
  menu->addAction(tr("&Fit Whole Graph"), &scroll_, &LadderScroll::fit);
  menu->popup(event->globalPos());
}

// --- Keys ---

KeysGroup GraphView::keys() {
  return {tr("Graph"),
          {{tr("Click, Ctrl+click"), tr("Select; add to or remove from the selection")},
           {tr("Double-click, Enter"), tr("Expand or collapse a row")},
           {tr("Double-click a node"),
            tr("Select all nodes that run in its kernel, if kernels are outlined")},
           {tr("Up, Down"), tr("Go to the row or node above or below")},
           {tr("Home, End"), tr("Go to the first or last row")},
           {tr("Right, Left"), tr("Expand a row and step into it; step out and collapse it")},
           {tr("Ctrl+Left, Ctrl+Right"), tr("Go to the forward or backward side of a row")},
           {tr("[, ]"), tr("Go to the first input or user of the node")},
           {tr("Z"), tr("Expand the rows that contain the selected node and show it")},
           {tr("Wheel, drag"), tr("Pan; Shift+wheel pans horizontally")},
           {tr("Ctrl+wheel, W, S"), tr("Zoom at the pointer")},
           {tr("F, 1"), tr("Fit the whole graph; actual size")}}};
}

// The window has shortcuts for some of these keys, but here they belong to the ladder.
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

LadderPosition GraphView::position() const {
  return {model_, selection_.marks(), selection_.side()};
}

void GraphView::keyPressEvent(QKeyEvent* event) {
  const int key = event->key();
  const bool with_control = event->modifiers().testFlag(Qt::ControlModifier);
  if (event->modifiers() & (Qt::AltModifier | Qt::MetaModifier))
    return QAbstractScrollArea::keyPressEvent(event);
  const int focus_row = selection_.marks().focus_row;
  if (with_control && (key == Qt::Key_Left || key == Qt::Key_Right)) {
    const LadderSide side = key == Qt::Key_Left ? LadderSide::forward : LadderSide::backward;
    if (focus_row >= 0 && model_.ladder().has(side))
      apply_step({LadderStep::Kind::select_row, focus_row, side});
    return;
  }
  if (with_control) return QAbstractScrollArea::keyPressEvent(event);
  if (handle_arrow(key)) return;
  switch (key) {
    case Qt::Key_Return:
    case Qt::Key_Enter:
      if (focus_row >= 0) model_.toggle_row(focus_row, selection_.side());
      return;
    case Qt::Key_F:
      return scroll_.fit();
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
      return selection_.follow_flow(true);
    case Qt::Key_BracketLeft:
      return selection_.follow_flow(false);
    default:
      QAbstractScrollArea::keyPressEvent(event);
  }
}

// Handles the arrow keys, Home and End. Returns false for other keys.
bool GraphView::handle_arrow(int key) {
  const bool is_vertical = key == Qt::Key_Up || key == Qt::Key_Down;
  const auto items = model_.layout().items();
  switch (key) {
    case Qt::Key_Up:
    case Qt::Key_Left:
    case Qt::Key_Down:
    case Qt::Key_Right: {
      const int direction = key == Qt::Key_Down || key == Qt::Key_Right ? 1 : -1;
      LadderStep step = step_nodes(position(), is_vertical, direction);
      if (step.kind == LadderStep::Kind::none)
        step = is_vertical     ? step_rows(position(), direction)
               : direction > 0 ? step_in(position())
                               : step_out(position());
      apply_step(step);
      return true;
    }
    case Qt::Key_Home:
    case Qt::Key_End:
      if (!items.empty())
        apply_step({LadderStep::Kind::select_row,
                    key == Qt::Key_Home ? items.front().row : items.back().row, selection_.side()});
      return true;
    default:
      return false;
  }
}

void GraphView::apply_step(const LadderStep& step) {
  const LadderLayout& layout = model_.layout();
  const auto item = [&]() -> const LadderItem& {
    return layout.item(layout.item_of_row(step.row));
  };
  switch (step.kind) {
    case LadderStep::Kind::none:
      return;
    case LadderStep::Kind::select_row:
      selection_.select_row(step.row, step.side);
      return scroll_.show_place(layout.box(item(), step.side));
    case LadderStep::Kind::select_node:
      selection_.select_node(model_.ladder().boxes(step.row, step.side)[step.node]);
      return scroll_.show_place(layout.node_box(item(), step.side, step.node));
    case LadderStep::Kind::open_row:
      return model_.open_row(step.row, step.side);
    case LadderStep::Kind::close_row:
      return model_.close_row(step.row, step.side);
  }
}

// --- Events ---

bool GraphView::viewportEvent(QEvent* event) {
  if (event->type() == QEvent::Leave) {
    hover_.reset();
    if (hovered_link_) {
      hovered_link_.reset();
      refresh();
    }
    viewport()->update();
  }
  return QAbstractScrollArea::viewportEvent(event);
}

void GraphView::changeEvent(QEvent* event) {
  if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) {
    minimap_.forget();
    refresh();
  }
  QAbstractScrollArea::changeEvent(event);
}

void GraphView::resizeEvent(QResizeEvent* /*event*/) {
  next_anchor_ = scroll_.anchor_on_screen();
  model_.set_width(area().width());
}

void GraphView::paintEvent(QPaintEvent* /*event*/) {
  const QPixmap& frame = frame_.of(*this, [this](QPainter& painter) {
    const LadderScene scene = this->scene();
    paint_ladder_picture(painter, viewport()->size(), scene, font());
    minimap_.paint(painter, scene, minimap_area());
  });
  QPainter painter(viewport());
  painter.setFont(small_font(font()));
  painter.drawPixmap(0, 0, frame);
  if (hover_ && drag_ == Drag::none)
    paint_card(painter, *hover_, viewport()->rect(), card_at(*hover_), Theme::of(palette()));
  emit painted();
}

}  // namespace jointer::views
