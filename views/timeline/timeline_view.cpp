#include "views/timeline/timeline_view.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>
#include <QWheelEvent>
#include <cmath>

#include "views/session/document/marks.h"
#include "views/session/edit/editing.h"
#include "views/session/open/go_to.h"
#include "views/session/sac/sac_session.h"
#include "views/theme/fonts.h"
#include "views/timeline/lane_legend.h"
#include "views/timeline/lanes_painter.h"
#include "views/timeline/memory_painter.h"
#include "views/timeline/move_tool.h"
#include "views/timeline/plan_overlay.h"
#include "views/timeline/pointer_keys.h"
#include "views/timeline/ruler_painter.h"
#include "views/timeline/timeline_legend.h"
#include "views/timeline/timeline_steps.h"
#include "views/timeline/timeline_text.h"
#include "views/widgets/gestures.h"

namespace jointer::views {
namespace {

constexpr double kPanStep = 0.15;

}  // namespace

TimelineView::TimelineView(Document& document, QWidget* parent, Moves moves)
    : QAbstractScrollArea(parent),
      document_(document),
      moves_(moves),
      content_(document),
      range_(content_),
      kernel_watch_(document, *viewport(), false) {
  setFrameShape(QFrame::NoFrame);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setFocusPolicy(Qt::StrongFocus);
  viewport()->setMouseTracking(true);
  viewport()->setAttribute(Qt::WA_OpaquePaintEvent);
  setAccessibleName(tr("Timeline"));
  setMinimumSize(320, 232);
  connect(&content_, &TimelineContent::kind_changed, this, &TimelineView::relayout);
  connect(&content_, &TimelineContent::measurement_changed, this, &TimelineView::relayout);
  connect(&content_, &TimelineContent::snapshot_changed, this, &TimelineView::relayout);
  connect(&document_.marks(), &Marks::changed, this, &TimelineView::refresh);
  connect(&content_, &TimelineContent::legend_changed, this, [this] {
    kernel_watch_.set_needed(content_.needs_prediction());
    relayout();
  });
  connect(&content_, &TimelineContent::changed, this, &TimelineView::refresh);
  connect(&range_, &TimelineRange::changed, this, &TimelineView::refresh);
  Selection& selection = document_.selection();
  connect(&selection, &Selection::nodes_changed, this, &TimelineView::follow_selection);
  connect(&selection, &Selection::moment_changed, this, &TimelineView::refresh);
  connect(&selection, &Selection::range_changed, this, &TimelineView::refresh);
  connect(&selection, &Selection::hits_changed, this, &TimelineView::refresh);
  connect(&document_.sac(), &SacSession::previewed, viewport(), qOverload<>(&QWidget::update));
  tool_ = std::make_unique<MoveTool>(content_, range_);
  connect(tool_.get(), &MoveTool::changed, this, &TimelineView::refresh);
  new PointerKeys(*this);
  // Prepare the estimates of possible positions before a drag starts.
  if (moves_ == Moves::allowed) document_.editing().planner().prepare();
}

TimelineView::~TimelineView() = default;

TimelineScene TimelineView::scene() const {
  return {content_,
          range_.axis(),
          layout_,
          Theme::of(palette()),
          memory_zoom_.of(content_.top_bytes()),
          font(),
          viewport()->rect()};
}

QStringList TimelineView::card_at(QPoint at) const {
  return card_lines(scene(), at);
}

void TimelineView::relayout() {
  const QSize size = viewport()->size();
  std::vector<LaneKind> kinds;
  for (const TimelineContent::Row& row : content_.rows())
    kinds.push_back(row.has_kernels || row.has_shown_kernels ? LaneKind::kernels
                    : row.is_measured                        ? LaneKind::measured
                    : row.lane == 0                          ? LaneKind::host
                                                             : LaneKind::estimated);
  const TimelineLayout::Legends legends{.memory = TimelineLegend(scene()).height(size.width()),
                                        .lanes = LaneLegend(scene()).height(size.width())};
  layout_ = TimelineLayout::make(size, kinds, legends, content_.label_count(),
                                 verticalScrollBar()->value());
  const int hidden = std::max(layout_.lanes_height - layout_.lanes.height(), 0);
  verticalScrollBar()->setRange(0, hidden);
  verticalScrollBar()->setPageStep(std::max(layout_.lanes.height(), 1));
  verticalScrollBar()->setSingleStep(20);
  range_.set_pixels(layout_.left(), layout_.width());
  overview_.forget();
  refresh();
}

void TimelineView::refresh() {
  frame_.forget();
  viewport()->update();
}

// --- Commands ---

void TimelineView::zoom(double factor) {
  const AxisView& axis = range_.axis();
  const double middle = axis.left() + axis.width() / 2;
  range_.zoom_at(hover_ && layout_.content().contains(*hover_) ? hover_->x() : middle, factor);
}

void TimelineView::show_peak() {
  const MemoryTimeline& memory = content_.shown().analysis.memory;
  document_.selection().set_moment(memory.peak_index());
  if (const NodeId node = memory.node_at(memory.peak_index())) document_.selection().select(node);
  const std::int64_t at = content_.data().position(memory.peak_index());
  range_.reveal(at, at);
}

void TimelineView::follow_flow(bool forward) {
  go_to(next_in_flow(content_.shown(), document_.selection().current(), forward));
}

void TimelineView::step_in_lane(int direction) {
  go_to(next_in_lane(content_.data(), document_.selection().current(), direction));
}

void TimelineView::step_exposed(int direction) {
  go_to(next_exposed(content_.shown(), document_.selection().current(), direction));
}

void TimelineView::toggle_mark() {
  document_.marks().toggle(document_.snapshot(), document_.moment());
}

QString TimelineView::select_between_marks() {
  const Marks& marks = document_.marks();
  if (const auto range = marks.range_around(document_.snapshot(), document_.moment())) {
    document_.selection().set_range(range);
    return {};
  }
  return marks.moments(document_.snapshot()).size() < 2
             ? tr("Mark two moments first: select each and press M.")
             : tr("All marks are at the same estimated time. Mark another moment: select it and "
                  "press M.");
}

void TimelineView::go_to(NodeId node) {
  if (!node) return;
  views::go_to(document_, node);
}

// Scrolls to the selected node. If several nodes are selected, there is no single position to
// scroll to.
void TimelineView::follow_selection() {
  const auto nodes = document_.selection().nodes();
  if (nodes.size() == 1 && drag_ == Drag::none) {
    const auto extent = content_.data().extent(nodes.front());
    if (extent.end > extent.begin) range_.reveal(extent.begin, extent.end);
  }
  refresh();
}

KeysGroup TimelineView::keys() {
  return {
      .title = tr("Timeline"),
      .rows = {
          {tr("W, S"), tr("Zoom in or out; works without focus while the pointer is over the "
                          "timeline and no text is being edited")},
          {tr("A, D"), tr("Pan left or right; works without focus while the pointer is over the "
                          "timeline and no text is being edited")},
          {tr("Home, End"), tr("Go to the start or the end")},
          {tr("Left, Right"), tr("Go to the previous or next node in the lane")},
          {tr("Click"), tr("Select the node or the moment under the pointer")},
          {tr("Click on the plan's peak"), tr("Show what contributes to the peak in the SAC pane")},
          {tr("Ctrl+click"), tr("Add to the selection, or remove from it")},
          {tr("Double-click"), tr("Zoom to the item under the pointer")},
          {tr("Drag"), tr("Select a range and see its totals")},
          {tr("Drag a collective"),
           tr("Move the collective's start, or drag its right end to move its wait; shows the "
              "legal range and the effect of each position")},
          {tr("Drag a stall"), tr("Move the wait")},
          {tr("Drag a node in program order"), tr("Move the node")},
          {tr("C, Shift while dragging"),
           tr("While a node is held: include or exclude its chain of cheap nodes")},
          {tr("Alt while dragging"), tr("Do not snap to the best positions")},
          {tr("Left, Right, Home, End, Enter, Esc"),
           tr("While a node is held: move by one position, move to the ends, drop, cancel")},
          {tr("Middle-button drag, Space+drag"), tr("Pan")},
          {tr("Wheel"), tr("Pan")},
          {tr("Ctrl+wheel"), tr("Zoom at the pointer")},
          {tr("Ctrl+Shift+wheel"), tr("Over the memory curve: zoom its vertical axis")},
          {tr("Shift+wheel"), tr("Scroll lanes that do not fit, or a zoomed memory curve")},
          {tr("Double-click on the memory curve"), tr("Show the whole vertical axis")}}};
}

// --- Events ---

bool TimelineView::viewportEvent(QEvent* event) {
  if (event->type() == QEvent::Leave && hover_) {
    hover_.reset();
    viewport()->update();
  }
  return QAbstractScrollArea::viewportEvent(event);
}

void TimelineView::resizeEvent(QResizeEvent* /*event*/) {
  relayout();
}

void TimelineView::scrollContentsBy(int /*dx*/, int /*dy*/) {
  relayout();
}

void TimelineView::changeEvent(QEvent* event) {
  if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) relayout();
  QAbstractScrollArea::changeEvent(event);
}

void TimelineView::paintEvent(QPaintEvent* /*event*/) {
  const QPixmap& frame = frame_.of(*this, [this](QPainter& painter) { paint_frame(painter); });
  QPainter painter(viewport());
  painter.setFont(font());
  painter.drawPixmap(0, 0, frame);
  const TimelineScene scene = this->scene();
  PlanOverlay(scene).paint(painter);
  RulerPainter(scene).paint_range_card(painter, range_card_);
  painter.setFont(small_font(font()));
  tool_->paint(painter, layout_, scene.theme);
  painter.setFont(font());
  const bool shows_hover = drag_ == Drag::none || drag_ == Drag::maybe || drag_ == Drag::move;
  if (hover_ && shows_hover && !tool_->is_holding()) paint_hover(painter, scene, *hover_);
  emit painted();
}

void TimelineView::paint_frame(QPainter& painter) {
  const TimelineScene scene = this->scene();
  painter.fillRect(scene.viewport, scene.theme.surface);
  TimelineLegend(scene).paint(painter);
  MemoryPainter(scene).paint(painter);
  LanesPainter(scene).paint(painter);
  LaneLegend(scene).paint(painter);
  const RulerPainter ruler(scene);
  ruler.paint_ruler(painter);
  ruler.paint_range(painter);
  range_card_ = ruler.range_card();
  const std::vector<std::size_t> marks = document_.marks().moments(content_.shown());
  ruler.paint_marks(painter, marks);
  ruler.paint_distances(painter, marks);
  ruler.paint_moment(painter);
  overview_.paint(painter, scene);
}

void TimelineView::mousePressEvent(QMouseEvent* event) {
  press_ = last_at_ = event->pos();
  const bool pans =
      event->button() == Qt::MiddleButton || (event->button() == Qt::LeftButton && space_held_);
  if (layout_.overview.contains(press_) && event->button() == Qt::LeftButton) {
    drag_ = Drag::overview;
    move_overview(press_.x());
  } else if (pans) {
    drag_ = Drag::pan;
    viewport()->setCursor(Qt::ClosedHandCursor);
  } else if (event->button() == Qt::RightButton) {
    // The context menu applies to the item under the pointer or, if that is selected, to the whole
    // selection.
    const TimelineScene scene = this->scene();
    const TimelineHit h = hit_timeline(scene, press_);
    if (h.run && !h.run->is_folded() &&
        !document_.selection().contains(scene.lane(*h.row).items()[h.run->first].node))
      click(press_, {});
  } else if (event->button() == Qt::LeftButton) {
    const bool takes =
        moves_ == Moves::allowed && tool_->press(scene(), press_, event->modifiers());
    drag_ = takes ? Drag::move : Drag::maybe;
  }
}

void TimelineView::mouseMoveEvent(QMouseEvent* event) {
  const QPoint at = event->pos();
  if (drag_ == Drag::maybe && (at - press_).manhattanLength() > kDragDistance &&
      layout_.content().contains(press_))
    drag_ = Drag::area;
  switch (drag_) {
    case Drag::area:
      document_.selection().set_range(range_between(scene(), press_.x(), at.x()));
      break;
    case Drag::overview:
      move_overview(at.x());
      break;
    case Drag::pan:
      range_.pan_by(last_at_.x() - at.x());
      break;
    case Drag::move:
      tool_->move(at, event->modifiers());
      break;
    case Drag::none:
      if (moves_ == Moves::allowed && layout_.content().contains(at))
        tool_->hover(at, event->modifiers());
      show_cursor(at);
      break;
    case Drag::maybe:
      break;
  }
  last_at_ = at;
  hover_ = at;
  viewport()->update();
}

void TimelineView::mouseReleaseEvent(QMouseEvent* event) {
  const bool is_click = event->button() == Qt::LeftButton &&
                        (drag_ == Drag::maybe || (drag_ == Drag::move && !tool_->release()));
  drag_ = Drag::none;
  if (is_click) click(event->pos(), event->modifiers());
  viewport()->unsetCursor();
}

void TimelineView::mouseDoubleClickEvent(QMouseEvent* event) {
  // A quick second press that pans, or opens the context menu, is not a double-click.
  if (event->button() != Qt::LeftButton || space_held_) return mousePressEvent(event);
  const TimelineScene scene = this->scene();
  if (layout_.memory.contains(event->pos())) {
    memory_zoom_.reset();
    return refresh();
  }
  const TimelineHit h = hit_timeline(scene, event->pos());
  if (!h.run || !h.row) return;
  const auto items = scene.lane(*h.row).items();
  range_.show(items[h.run->first].begin, items[h.run->last - 1].end, h.run->is_folded() ? 0.1 : 1);
}

void TimelineView::wheelEvent(QWheelEvent* event) {
  const QPoint delta = event->angleDelta();
  const double notches = static_cast<double>(delta.y()) / 120.0;
  if (turn_memory(*event)) {
    // The memory axis has handled the event.
  } else if (event->modifiers().testFlag(Qt::ControlModifier)) {
    range_.zoom_at(event->position().x(), std::pow(kZoomStep, notches));
  } else if (event->modifiers().testFlag(Qt::ShiftModifier) && verticalScrollBar()->maximum() > 0) {
    verticalScrollBar()->setValue(verticalScrollBar()->value() - delta.y() / 3);
  } else {
    // A touchpad also reports horizontal motion. A wheel's vertical motion pans in the same way.
    const int turned = delta.x() != 0 ? delta.x() : delta.y();
    range_.pan(-static_cast<double>(turned) / 120.0 * kPanStep);
  }
  hover_ = event->position().toPoint();
  refresh();
  event->accept();
}

// Over the memory curve, the wheel zooms the vertical axis with Ctrl+Shift, and pans it with Shift
// if it is zoomed. Returns false if the wheel has another meaning.
bool TimelineView::turn_memory(const QWheelEvent& event) {
  const QPoint at = event.position().toPoint();
  if (!event.modifiers().testFlag(Qt::ShiftModifier) || !layout_.memory.contains(at)) return false;
  const QPoint delta = event.angleDelta();
  // Some platforms report a wheel that is turned with Shift as horizontal.
  const double notches = (delta.y() != 0 ? delta.y() : delta.x()) / 120.0;
  if (event.modifiers().testFlag(Qt::ControlModifier)) {
    const double above = layout_.memory.bottom() + 1 - at.y();
    memory_zoom_.zoom_at(above / layout_.memory.height(), std::pow(kZoomStep, notches));
    return true;
  }
  if (memory_zoom_.shows_all()) return false;
  memory_zoom_.pan(notches * kPanStep);
  return true;
}

// Sets the cursor for the plan's peak, a node that can be moved along the axis, or neither.
void TimelineView::show_cursor(QPoint at) {
  if (space_held_) return;
  const TimelineScene scene = this->scene();
  if (PlanOverlay(scene).is_at_peak(at))
    viewport()->setCursor(Qt::PointingHandCursor);
  else if (moves_ == Moves::allowed && (tool_->is_holding() || grip_at(scene, at)))
    viewport()->setCursor(Qt::SizeHorCursor);
  else
    viewport()->unsetCursor();
}

void TimelineView::keyPressEvent(QKeyEvent* event) {
  if (tool_->key(*event)) return;
  if (event->modifiers() & (Qt::ControlModifier | Qt::AltModifier | Qt::MetaModifier))
    return QAbstractScrollArea::keyPressEvent(event);
  switch (event->key()) {
    case Qt::Key_W:
      return zoom(kZoomStep);
    case Qt::Key_S:
      return zoom(1 / kZoomStep);
    case Qt::Key_A:
      return range_.pan(-kPanStep);
    case Qt::Key_D:
      return range_.pan(kPanStep);
    case Qt::Key_Left:
      return step_in_lane(-1);
    case Qt::Key_Right:
      return step_in_lane(1);
    case Qt::Key_Home:
      return range_.pan(-1e9);
    case Qt::Key_End:
      return range_.pan(1e9);
    case Qt::Key_Space:
      space_held_ = true;
      viewport()->setCursor(Qt::OpenHandCursor);
      return;
    default:
      QAbstractScrollArea::keyPressEvent(event);
  }
}

void TimelineView::keyReleaseEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Space && !event->isAutoRepeat()) {
    space_held_ = false;
    viewport()->unsetCursor();
  }
  QAbstractScrollArea::keyReleaseEvent(event);
}

void TimelineView::click(QPoint at, Qt::KeyboardModifiers modifiers) {
  const TimelineScene scene = this->scene();
  if (PlanOverlay(scene).is_at_peak(at)) return emit plan_peak_clicked();
  select_at(scene, at, modifiers.testFlag(Qt::ControlModifier));
}

void TimelineView::move_overview(int x) {
  const QRect& strip = layout_.overview;
  range_.center_at(static_cast<double>(x - strip.left()) / strip.width());
}

}  // namespace jointer::views
