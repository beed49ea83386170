#include "views/timeline/timeline_view.h"

#include <QApplication>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>
#include <limits>

#include "views/session/edit/editing.h"
#include "views/session/sac/sac_session.h"
#include "views/timeline/move_tool.h"

namespace jointer::views {
namespace {

constexpr double kZoomStep = 1.25;
constexpr double kPanStep = 0.15;
constexpr int kDragDistance = 4;
constexpr int kMinTwoGrips = 18;  // minimum width for separate grips of start and wait
// Limits how much an axis is extended to show a longer second step completely. Beyond that limit
// its end is cut off and labeled.
constexpr std::int64_t kMaxStretch = 2;

}  // namespace

TimelineView::TimelineView(Document& document, QWidget* parent)
    : QAbstractScrollArea(parent),
      document_(document),
      planner_(document.editing().planner()),
      last_(document.shared_snapshot()) {
  setFrameShape(QFrame::NoFrame);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setFocusPolicy(Qt::StrongFocus);
  viewport()->setMouseTracking(true);
  viewport()->setAttribute(Qt::WA_OpaquePaintEvent);
  setAccessibleName(tr("Timeline"));
  setMinimumSize(320, 240);
  connect(&document_, &Document::changed, this, &TimelineView::take_document);
  connect(&document_, &Document::measurement_changed, this, &TimelineView::take_measurement);
  Selection& selection = document_.selection();
  connect(&selection, &Selection::nodes_changed, this, &TimelineView::follow_selection);
  connect(&selection, &Selection::moment_changed, this, &TimelineView::refresh);
  connect(&selection, &Selection::stretch_changed, this, &TimelineView::refresh);
  connect(&document_.sac(), &SacSession::changed, this, &TimelineView::take_plan);
  connect(&document_.sac(), &SacSession::previewed, viewport(), qOverload<>(&QWidget::update));
  axis_.set_length(axis_length());
  had_plan_ = plan() != nullptr;
  tool_ = new MoveTool(*this);
  // Prepare the figures of places before a drag starts.
  planner_.prepare();
}

TimelineView::~TimelineView() = default;

std::int64_t TimelineView::top_bytes() const {
  const Analysis& a = shown().analysis;
  std::int64_t most = a.memory.peak_bytes();
  if (shows_reserved()) most = std::max(most, a.reserved.peak_bytes);
  // While a block is held and after an edit the scale is fixed, so that a lower curve looks lower.
  if (const Snapshot* opened = ghost())
    most = std::max({most, opened->analysis.memory.peak_bytes(),
                     shows_reserved() ? opened->analysis.reserved.peak_bytes : 0});
  if (const MeasuredTimeline* m = document_.measured()) {
    if (const MeasuredCurve& curve = m->curve(kind_); !curve.empty())
      most = std::max(most, curve.bytes(curve.peak()));
  }
  if (const PlanOutcomePtr partitioned = plan())
    most = std::max(most, partitioned->figures.figures.peak_bytes);
  return most + most / 16 + 1;
}

std::int64_t TimelineView::axis_length() const {
  std::int64_t own = data().length();
  // The axis is fixed too, so that a shorter step looks shorter.
  if (const Snapshot* opened = ghost(); opened != nullptr && !is_measured_axis())
    own = std::max(own, opened->timeline(kind_).length());
  if (kind_ == AxisKind::program_order || measured() == nullptr) return own;
  const std::int64_t longer = std::max(estimated().length(), measured()->length());
  return std::min(longer, kMaxStretch * own);
}

int TimelineView::row_of(std::size_t lane, bool is_measured) const {
  for (std::size_t row = 0; row < rows_.size(); ++row)
    if (rows_[row].lane == lane && rows_[row].is_measured == is_measured)
      return static_cast<int>(row);
  return -1;
}

int TimelineView::row_of(NodeId node, bool is_measured) const {
  const std::int32_t lane = (is_measured ? *measured() : estimated()).lane_of(node);
  return lane < 0 ? -1 : row_of(static_cast<std::size_t>(lane), is_measured);
}

QRect TimelineView::content() const {
  return {layout_.left(), layout_.ruler.top(), layout_.width(),
          layout_.lanes.bottom() - layout_.ruler.top() + 1};
}

void TimelineView::take_document() {
  // With a new estimate, the same part of the step stays visible, whatever its new length. After an
  // edit, the visible range stays unchanged.
  const SnapshotPtr before = std::exchange(last_, document_.shared_snapshot());
  const bool whole = axis_.shows_all();
  const double scale = same_estimates(*before, *last_) ? 1
                                                       : static_cast<double>(axis_length()) /
                                                             static_cast<double>(axis_.length());
  const double begin = axis_.begin() * scale, end = axis_.end() * scale;
  axis_.set_length(axis_length());
  if (!whole) axis_.show(begin, end);
  // Marks stay at their nodes.
  std::vector<std::size_t> marks;
  for (const std::size_t mark : marks_) {
    if (mark >= before->analysis.memory.profile().size()) continue;
    const NodeId node = before->analysis.memory.node_at(mark);
    const auto step = document_.has(node) ? shown().analysis.memory.step_of(node) : std::nullopt;
    if (step) marks.push_back(1 + 2 * *step + (mark % 2 == 0 ? 1 : 0));
  }
  marks_ = std::move(marks);
  relayout();
}

// Keeps the visible range; if it was the whole step, shows the whole of both.
void TimelineView::take_measurement() {
  if (kind_ == AxisKind::measured_time && measured() == nullptr)
    set_axis_kind(AxisKind::estimated_time);
  const double begin = axis_.begin(), end = axis_.end();
  const bool whole = axis_.shows_all();
  axis_.set_length(axis_length());
  if (!whole) axis_.show(begin, end);
  relayout();
}

void TimelineView::relayout() {
  const QSize size = viewport()->size();
  rows_.clear();
  std::vector<LaneKind> kinds;
  for (std::size_t i = 0; i < estimated().lanes().size(); ++i) {
    rows_.push_back({i, false});
    kinds.push_back(i == 0 ? LaneKind::host : LaneKind::estimated);
    if (measured() == nullptr || measured()->lanes()[i].items().empty()) continue;
    rows_.push_back({i, true});
    kinds.push_back(LaneKind::measured);
  }
  layout_ =
      TimelineLayout::make(size, kinds, legend_height(size.width()), verticalScrollBar()->value());
  const int hidden = std::max(layout_.lanes_height - layout_.lanes.height(), 0);
  verticalScrollBar()->setRange(0, hidden);
  verticalScrollBar()->setPageStep(std::max(layout_.lanes.height(), 1));
  verticalScrollBar()->setSingleStep(20);
  axis_.set_pixels(layout_.left(), layout_.width());
  overview_ = {};
  refresh();
}

void TimelineView::refresh() {
  frame_.forget();
  viewport()->update();
  emit range_changed();
}

QString TimelineView::range_text() const {
  if (axis_.shows_all())
    return kind_ == AxisKind::program_order ? tr("all %1 steps").arg(position_text(axis_.end()))
                                            : tr("all %1").arg(position_text(axis_.end()));
  return tr("%1 to %2").arg(position_text(axis_.begin()), position_text(axis_.end()));
}

// --- Commands ---

void TimelineView::set_axis_kind(AxisKind kind) {
  if (kind == kind_ || (kind == AxisKind::measured_time && measured() == nullptr)) return;
  // Keep the position at the center of the screen.
  const TimelineData& old = data();
  const std::size_t first = old.point_at(static_cast<std::int64_t>(axis_.begin()));
  const std::size_t last = old.point_at(static_cast<std::int64_t>(std::ceil(axis_.end())));
  const bool whole = axis_.shows_all();
  kind_ = kind;
  axis_.set_length(axis_length());
  if (!whole)
    axis_.show(static_cast<double>(data().position(first)),
               static_cast<double>(data().position(last)));
  relayout();
  emit axis_kind_changed(kind);
}

void TimelineView::next_axis_kind() {
  if (kind_ == AxisKind::estimated_time && measured() != nullptr)
    return set_axis_kind(AxisKind::measured_time);
  set_axis_kind(kind_ == AxisKind::program_order ? AxisKind::estimated_time
                                                 : AxisKind::program_order);
}

void TimelineView::fit() {
  axis_.fit();
  refresh();
}

void TimelineView::zoom(double factor) {
  const double middle = axis_.left() + axis_.width() / 2;
  const double at = hover_ && content().contains(*hover_) ? hover_->x() : middle;
  axis_.zoom_at(at, factor);
  refresh();
}

void TimelineView::pan(double share) {
  axis_.pan_by(share * axis_.width());
  refresh();
}

void TimelineView::show_selection() {
  const auto nodes = document_.selection().nodes();
  if (const auto stretch = document_.selection().stretch(); stretch && nodes.empty()) {
    axis_.show(static_cast<double>(data().position(1 + 2 * stretch->first)),
               static_cast<double>(data().position(2 * stretch->last)), 0.05);
  } else if (!nodes.empty()) {
    std::int64_t begin = data().length(), end = 0;
    for (const NodeId node : nodes) {
      const auto extent = data().extent(node);
      if (extent.end <= extent.begin) continue;
      begin = std::min(begin, extent.begin);
      end = std::max(end, extent.end);
    }
    if (end > begin) axis_.show(static_cast<double>(begin), static_cast<double>(end), 0.5);
  }
  refresh();
}

void TimelineView::show_peak() {
  const MemoryTimeline& memory = shown().analysis.memory;
  document_.selection().set_moment(memory.peak_index());
  if (const NodeId node = memory.node_at(memory.peak_index())) document_.selection().select(node);
  const auto at = static_cast<double>(data().position(memory.peak_index()));
  axis_.reveal(at, at);
  refresh();
}

void TimelineView::set_show_ghost(bool show) {
  show_ghost_ = show;
  refresh();
}

const Snapshot* TimelineView::ghost() const {
  const Snapshot* opened = document_.baseline().get();
  return show_ghost_ && opened != &shown() ? opened : nullptr;
}

void TimelineView::set_show_reserved(bool show) {
  show_reserved_ = show;
  refresh();
}

void TimelineView::follow_flow(bool forward) {
  const NodeId current = document_.selection().current();
  if (!current) return;
  const Snapshot& s = shown();
  const std::int32_t index = s.analysis.simulation.collective_of(current);
  if (index >= 0) {
    const CollectiveTiming& c =
        s.analysis.simulation.collectives()[static_cast<std::size_t>(index)];
    if (forward && current == c.start && c.wait) return select_and_reveal(c.wait);
    if (!forward && current != c.start) return select_and_reveal(c.start);
  }
  if (forward) {
    const auto users = s.users.of(current);
    if (!users.empty()) select_and_reveal(users.front());
  } else {
    const auto inputs = s.graph.inputs(current);
    if (!inputs.empty()) select_and_reveal(inputs.front());
  }
}

void TimelineView::step_in_lane(int direction) {
  const NodeId current = document_.selection().current();
  const std::int32_t lane = current ? data().lane_of(current) : -1;
  const Lane& items = data().lanes()[lane < 0 ? 1 : static_cast<std::size_t>(lane)];
  if (items.items().empty()) return;
  std::size_t at = 0;
  if (lane >= 0) {
    at = items.first_beginning_at(data().extent(current).begin);
    const auto last = static_cast<std::ptrdiff_t>(items.items().size()) - 1;
    at = static_cast<std::size_t>(
        std::clamp<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(at) + direction, 0, last));
  }
  select_and_reveal(items.items()[at].node);
}

void TimelineView::step_exposed(int direction) {
  const auto collectives = shown().analysis.simulation.collectives();
  const NodeId current = document_.selection().current();
  const auto position = [this](NodeId node) {
    return static_cast<std::int64_t>(shown().graph.position(node));
  };
  const CollectiveTiming* best = nullptr;
  // Without a selection, start at the beginning or the end of the step.
  std::int64_t from = direction > 0 ? -1 : std::numeric_limits<std::int64_t>::max();
  if (current) {
    const std::int32_t index = shown().analysis.simulation.collective_of(current);
    from = position(index < 0 ? current : collectives[static_cast<std::size_t>(index)].start);
  }
  for (const CollectiveTiming& c : collectives) {
    if (c.reason.kind == ExposureReason::Kind::none) continue;
    const std::int64_t at = position(c.start);
    const bool further = direction > 0 ? at > from : at < from;
    const bool nearer = best == nullptr ||
                        (direction > 0 ? at < position(best->start) : at > position(best->start));
    if (further && nearer) best = &c;
  }
  if (best != nullptr) select_and_reveal(best->start);
}

void TimelineView::toggle_mark() {
  const std::size_t moment = document_.moment();
  if (const auto at = std::find(marks_.begin(), marks_.end(), moment); at != marks_.end())
    marks_.erase(at);
  else
    marks_.push_back(moment);
  refresh();
}

void TimelineView::select_and_reveal(NodeId node) {
  document_.selection().select(node);
  if (const auto moment = document_.moment_of(node)) document_.selection().set_moment(moment);
}

// Scrolls to a node that was selected elsewhere, as little as necessary. Several nodes have no
// single position to scroll to.
void TimelineView::follow_selection() {
  const auto nodes = document_.selection().nodes();
  if (nodes.size() == 1 && drag_ == Drag::none) {
    const auto extent = data().extent(nodes.front());
    if (extent.end > extent.begin)
      axis_.reveal(static_cast<double>(extent.begin), static_cast<double>(extent.end));
  }
  refresh();
}

KeysGroup TimelineView::keys() {
  return {
      .title = tr("Timeline"),
      .rows = {{tr("W, S"), tr("Zoom in and out")},
               {tr("A, D, Home, End"), tr("Move left and right, to the start, to the end")},
               {tr("Left, Right"), tr("Go to the neighbor in the lane")},
               {tr("Click"), tr("Select a node, or the moment under the pointer")},
               {tr("Click on the plan's peak"), tr("Show what contributes to it in the SAC pane")},
               {tr("Ctrl+click"), tr("Add to or remove from the selection")},
               {tr("Double-click"), tr("Zoom to what is under the pointer")},
               {tr("Drag"), tr("Select a range and see its totals")},
               {tr("Drag a collective"),
                tr("Move its start, or its wait at its right end; shows the legal range and "
                   "the effect of every place")},
               {tr("Drag a stall"), tr("Move the wait")},
               {tr("Drag a node in program order"), tr("Move the node")},
               {tr("Shift while dragging, C"), tr("Also move the chain of cheap nodes")},
               {tr("Alt while dragging"), tr("Do not snap to the best places")},
               {tr("Left, Right, Home, End, Enter, Esc"),
                tr("While a node is held: move by one place, move to the ends, drop, cancel")},
               {tr("Middle button, Space+drag"), tr("Pan")},
               {tr("Wheel"), tr("Pan")},
               {tr("Ctrl+wheel"), tr("Zoom at the pointer")},
               {tr("Shift+wheel"), tr("Scroll the lanes if they do not fit")}}};
}

// --- Events ---

bool TimelineView::viewportEvent(QEvent* event) {
  if (event->type() == QEvent::Leave) drop_hover();
  return QAbstractScrollArea::viewportEvent(event);
}

void TimelineView::drop_hover() {
  if (!hover_) return;
  hover_.reset();
  viewport()->update();
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
  paint_plan(painter);
  paint_hover(painter);
  emit painted();
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
    // The context menu applies to the item under the pointer, or to the whole selection.
    const Hit h = hit(press_);
    if (h.run && !h.run->is_folded() &&
        !document_.selection().contains(lane(rows_[*h.row]).items()[h.run->first].node))
      click(press_, {});
  } else if (event->button() == Qt::LeftButton) {
    drag_ = tool_->press(press_, event->modifiers()) ? Drag::move : Drag::maybe;
  }
}

void TimelineView::mouseMoveEvent(QMouseEvent* event) {
  const QPoint at = event->pos();
  if (drag_ == Drag::maybe && (at - press_).manhattanLength() > kDragDistance &&
      content().contains(press_))
    drag_ = Drag::area;
  switch (drag_) {
    case Drag::area:
      drag_area(at);
      break;
    case Drag::overview:
      move_overview(at.x());
      break;
    case Drag::pan:
      axis_.pan_by(last_at_.x() - at.x());
      refresh();
      break;
    case Drag::move:
      tool_->move(at, event->modifiers());
      break;
    case Drag::none:
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
  const Hit h = hit(event->pos());
  if (h.run && h.row) {
    const auto items = lane(rows_[*h.row]).items();
    axis_.show(static_cast<double>(items[h.run->first].begin),
               static_cast<double>(items[h.run->last - 1].end), h.run->is_folded() ? 0.1 : 1);
    refresh();
  }
}

void TimelineView::wheelEvent(QWheelEvent* event) {
  const QPoint delta = event->angleDelta();
  const double notches = static_cast<double>(delta.y()) / 120.0;
  if (event->modifiers().testFlag(Qt::ControlModifier)) {
    axis_.zoom_at(event->position().x(), std::pow(kZoomStep, notches));
  } else if (event->modifiers().testFlag(Qt::ShiftModifier) && verticalScrollBar()->maximum() > 0) {
    verticalScrollBar()->setValue(verticalScrollBar()->value() - delta.y() / 3);
  } else {
    // A touchpad reports horizontal motion; a wheel's vertical motion is used in the same way.
    const int turned = delta.x() != 0 ? delta.x() : delta.y();
    axis_.pan_by(-static_cast<double>(turned) / 120.0 * kPanStep * axis_.width());
  }
  hover_ = event->position().toPoint();
  refresh();
  event->accept();
}

// Changes the cursor over nodes that can be moved along the axis.
void TimelineView::show_cursor(QPoint at) {
  if (space_held_) return;
  if (is_at_plan_peak(at))
    viewport()->setCursor(Qt::PointingHandCursor);
  else if (planner_.held() != nullptr || grip_at(at))
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
      return pan(-kPanStep);
    case Qt::Key_D:
      return pan(kPanStep);
    case Qt::Key_Left:
      return step_in_lane(-1);
    case Qt::Key_Right:
      return step_in_lane(1);
    case Qt::Key_Home:
      return pan(-1e9);
    case Qt::Key_End:
      return pan(1e9);
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

// --- Under the pointer ---

TimelineView::Hit TimelineView::hit(QPoint at) const {
  Hit h;
  if (at.x() < layout_.left() || at.x() >= layout_.left() + layout_.width()) return h;
  if (layout_.memory.contains(at) || layout_.ruler.contains(at)) {
    const auto begin = static_cast<std::int64_t>(std::floor(axis_.to_position(at.x())));
    const auto end = static_cast<std::int64_t>(std::ceil(axis_.to_position(at.x() + 1)));
    h.point = data().largest_point(std::max<std::int64_t>(begin, 0), std::max(end, begin + 1));
  } else if ((h.row = layout_.lane_at(at))) {
    h.run = track_of(*h.row).run_at(at.x());
  }
  return h;
}

NodeId TimelineView::grip_at(QPoint at) const {
  const Hit h = hit(at);
  if (!h.run || h.run->is_folded() || rows_[*h.row].is_measured) return {};
  const NodeId node = lane(rows_[*h.row]).items()[h.run->first].node;
  const Node& n = shown().graph.node(node);
  const std::size_t row_lane = rows_[*h.row].lane;
  const bool in_order = kind_ == AxisKind::program_order;
  if (shown().graph.is_asynchronous(n)) {
    // In its group's lane the block is the collective, with its wait at the right end.
    const std::int32_t index = shown().analysis.simulation.collective_of(node);
    if (row_lane < 2 || index < 0) return node;
    const NodeId wait =
        shown().analysis.simulation.collectives()[static_cast<std::size_t>(index)].wait;
    const int width = h.run->right - h.run->left;
    const bool at_end = width >= kMinTwoGrips && at.x() >= h.run->right - width / 3;
    return wait && at_end ? wait : node;
  }
  if (shown().graph.is_wait(n)) return node;
  const bool is_selected = document_.selection().current() == node;
  return (in_order || is_selected) && planner_.can_move(node) ? node : NodeId{};
}

LaneTrack TimelineView::track_of(std::size_t row) const {
  return {shown().graph, lane(rows_[row]),
          axis_,         layout_.lane[row],
          theme(),       rows_[row].is_measured ? LaneStyle::measured : LaneStyle::estimated};
}

void TimelineView::click(QPoint at, Qt::KeyboardModifiers modifiers) {
  if (is_at_plan_peak(at)) return emit plan_peak_clicked();
  Selection& selection = document_.selection();
  const Hit h = hit(at);
  selection.set_stretch(std::nullopt);
  if (h.run) {
    const auto items = lane(rows_[*h.row]).items();
    if (h.run->is_folded()) {
      std::vector<NodeId> nodes;
      for (std::size_t i = h.run->first; i < h.run->last; ++i) nodes.push_back(items[i].node);
      selection.select_all(std::move(nodes));
    } else if (modifiers.testFlag(Qt::ControlModifier)) {
      selection.toggle(items[h.run->first].node);
    } else {
      selection.select(items[h.run->first].node);
    }
    if (const auto moment = document_.moment_of(selection.current())) selection.set_moment(moment);
  } else if (h.point) {
    selection.set_moment(h.point);
    if (const NodeId node = shown().analysis.memory.node_at(*h.point)) selection.select(node);
  } else if (content().contains(at)) {
    selection.clear();
  }
}

void TimelineView::drag_area(QPoint to) {
  const double a = axis_.to_position(std::min(press_.x(), to.x()));
  const double b = axis_.to_position(std::max(press_.x(), to.x()));
  const auto step_at = [&](double position) {
    const std::size_t point =
        data().point_at(std::max<std::int64_t>(static_cast<std::int64_t>(position), 0));
    return point == 0 ? std::size_t{0} : (point - 1) / 2;
  };
  const std::size_t first = step_at(a);
  document_.selection().set_stretch(Selection::Stretch{first, std::max(step_at(b), first) + 1});
}

void TimelineView::move_overview(int x) {
  const double share = static_cast<double>(x - layout_.overview.left()) / layout_.overview.width();
  const double span = axis_.end() - axis_.begin();
  const double middle = share * static_cast<double>(axis_.length());
  axis_.show(middle - span / 2, middle + span / 2);
  refresh();
}

}  // namespace jointer::views
