#include "views/timeline/move_tool.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "views/session/edit/editing.h"
#include "views/timeline/timeline_hits.h"
#include "views/widgets/gestures.h"

namespace jointer::views {
namespace {

constexpr int kPatienceMs = 180;
constexpr double kSnapPixels = 6;
constexpr int kScrollMs = 16, kEdge = 4;
constexpr double kMaxScroll = 40;
constexpr int kMinTwoGrips = 18;  // minimum width for separate start and wait grips

}  // namespace

NodeId grip_at(const TimelineScene& scene, QPoint at) {
  const TimelineHit h = hit_timeline(scene, at);
  if (!h.run || h.run->is_folded()) return {};
  if (scene.content.rows()[*h.row].is_measured || scene.content.rows()[*h.row].has_shown_kernels)
    return {};
  const Snapshot& s = scene.content.shown();
  const NodeId node = scene.lane(*h.row).items()[h.run->first].node;
  const Node& n = s.graph.node(node);
  if (s.graph.is_asynchronous(n)) {
    // In a group's lane, the block is the collective, and its right end picks up the wait.
    const std::int32_t index = s.analysis.simulation.collective_of(node);
    if (scene.content.rows()[*h.row].lane < 2 || index < 0) return node;
    const NodeId wait = s.analysis.simulation.collectives()[static_cast<std::size_t>(index)].wait;
    const int width = h.run->right - h.run->left;
    const bool at_end = width >= kMinTwoGrips && at.x() >= h.run->right - width / 3;
    return wait && at_end ? wait : node;
  }
  if (s.graph.is_wait(n)) return node;
  const Document& document = scene.content.document();
  const bool in_order = scene.content.kind() == AxisKind::program_order;
  const bool is_selected = document.selection().current() == node;
  return (in_order || is_selected) && document.editing().planner().can_move(node) ? node : NodeId{};
}

MoveTool::MoveTool(const TimelineContent& content, TimelineRange& range)
    : content_(content),
      range_(range),
      planner_(content.document().editing().planner()),
      begin_(range.axis().begin()),
      end_(range.axis().end()) {
  patience_.setSingleShot(true);
  patience_.setInterval(kPatienceMs);
  connect(&patience_, &QTimer::timeout, this, &MoveTool::take);
  scrolling_.setInterval(kScrollMs);
  connect(&scrolling_, &QTimer::timeout, this, &MoveTool::scroll);
  connect(&planner_, &MovePlanner::held_changed, this, &MoveTool::follow_held);
  connect(&planner_, &MovePlanner::moved, this, &MoveTool::changed);
  connect(&content_, &TimelineContent::kind_changed, this, &MoveTool::follow_held);
  connect(&range_, &TimelineRange::changed, this, &MoveTool::anchor);
}

bool MoveTool::press(const TimelineScene& scene, QPoint at, Qt::KeyboardModifiers modifiers) {
  if (const HeldMove* held = planner_.held(); held != nullptr && !held->is_dropped && scale_) {
    // A command picked up the block, so a click chooses its position.
    pressed_ = held->handle;
    press_ = last_ = at;
    is_dragged_ = true;
    place_at(at.x(), true);
    press_.setX(x_of(held->preview.current()));
    return true;
  }
  if (modifiers.testFlag(Qt::ControlModifier)) return false;
  pressed_ = grip_at(scene, at);
  if (!pressed_) return false;
  press_ = last_ = at;
  is_dragged_ = moved_by_key_ = false;
  patience_.start();
  return true;
}

void MoveTool::take() {
  patience_.stop();
  if (!pressed_ || planner_.held() != nullptr || planner_.is_taking()) return;
  Selection& selection = content_.document().selection();
  if (!selection.contains(pressed_)) selection.select(pressed_);
  planner_.take(pressed_);
}

bool MoveTool::move(QPoint at, Qt::KeyboardModifiers modifiers) {
  if (!pressed_) return is_holding();
  last_ = at;
  if (!is_dragged_ && (at - press_).manhattanLength() > kDragDistance) {
    is_dragged_ = true;
    take();
  }
  const bool is_toggled = modifiers.testFlag(Qt::ShiftModifier);
  if (const HeldMove* held = planner_.held(); held != nullptr && is_toggled != moved_by_key_) {
    moved_by_key_ = is_toggled;
    planner_.set_carry(!held->carries);
  }
  if (is_holding() && beyond_edge(at.x()) != 0)
    scrolling_.start();
  else
    scrolling_.stop();
  if (is_dragged_) follow(at.x(), !modifiers.testFlag(Qt::AltModifier));
  return true;
}

void MoveTool::hover(QPoint at, Qt::KeyboardModifiers modifiers) {
  const HeldMove* held = planner_.held();
  if (pressed_ || held == nullptr || held->is_dropped || !scale_) return;
  if (!hover_ || hover_->gap != held->gap) hover_ = Hover{.from = at, .gap = held->gap};
  if ((at - hover_->from).manhattanLength() > kDragDistance) hover_->follows = true;
  if (!hover_->follows) return;
  place_at(at.x(), !modifiers.testFlag(Qt::AltModifier));
  hover_->gap = held->gap;
}

void MoveTool::place_at(int x, bool snaps) {
  const double position = range_.axis().to_position(x);
  const HeldMove& held = *planner_.held();
  planner_.move_to(snaps ? scale_->snapped(position, held.preview.best, range_.axis(), kSnapPixels)
                         : scale_->gap_at(position));
}

// Moves the block by as much as the pointer has moved since the block was picked up.
void MoveTool::follow(int x, bool snaps) {
  const HeldMove* held = planner_.held();
  if (held == nullptr || held->is_dropped || !scale_) return;
  const double from = static_cast<double>(scale_->position(held->preview.current()));
  const double to = from + (x - press_.x()) / range_.axis().pixels_per_unit();
  if (x == press_.x()) return planner_.move_to(held->preview.current());
  planner_.move_to(snaps ? scale_->snapped(to, held->preview.best, range_.axis(), kSnapPixels)
                         : scale_->gap_at(to));
}

// Keeps a held block at its position while the visible range changes.
void MoveTool::anchor() {
  const double begin = std::exchange(begin_, range_.axis().begin());
  const double end = std::exchange(end_, range_.axis().end());
  if (begin == begin_ && end == end_) return;
  const HeldMove* held = planner_.held();
  if (is_scrolling_ || !pressed_ || held == nullptr || !scale_) return;
  press_.setX(last_.x() - (x_of(held->gap) - x_of(held->preview.current())));
}

int MoveTool::beyond_edge(int x) const {
  const int left = static_cast<int>(range_.axis().left());
  const int right = left + static_cast<int>(range_.axis().width()) - 1;
  if (x < left + kEdge) return x - left - kEdge;
  return x > right - kEdge ? x - right + kEdge : 0;
}

// Scrolls while the pointer is at or beyond an edge of the axis, and keeps the block at the
// pointer.
void MoveTool::scroll() {
  const int beyond = beyond_edge(last_.x());
  if (beyond == 0 || !is_holding()) return scrolling_.stop();
  const double before = range_.axis().begin();
  is_scrolling_ = true;
  range_.pan_by(std::clamp(static_cast<double>(beyond), -kMaxScroll, kMaxScroll));
  is_scrolling_ = false;
  const double moved = (range_.axis().begin() - before) * range_.axis().pixels_per_unit();
  press_.rx() -= static_cast<int>(std::lround(moved));
  follow(last_.x(), true);
}

bool MoveTool::release() {
  patience_.stop();
  scrolling_.stop();
  if (!pressed_) return true;  // the drag was cancelled while the button was down
  pressed_ = {};
  if (planner_.held() != nullptr) {
    planner_.drop();
    return true;
  }
  planner_.give_up();
  return is_dragged_;
}

bool MoveTool::key(const QKeyEvent& event) {
  const HeldMove* held = planner_.held();
  if (held == nullptr || held->is_dropped) return false;
  switch (event.key()) {
    case Qt::Key_Left:
      planner_.nudge(-1);
      return true;
    case Qt::Key_Right:
      planner_.nudge(1);
      return true;
    case Qt::Key_Home:
      planner_.to_end(-1);
      return true;
    case Qt::Key_End:
      planner_.to_end(1);
      return true;
    case Qt::Key_C:
      planner_.set_carry(!held->carries);
      return true;
    case Qt::Key_Return:
    case Qt::Key_Enter:
      pressed_ = {};
      planner_.drop();
      return true;
    case Qt::Key_Escape:
      pressed_ = {};
      planner_.give_up();
      return true;
    default:
      return false;
  }
}

void MoveTool::follow_held() {
  const HeldMove* held = planner_.held();
  if (held == nullptr) {
    scale_.reset();
    hover_.reset();
    pressed_ = {};
    scrolling_.stop();
  } else {
    const TimelineData& data =
        content_.is_measured_axis() ? *content_.measured() : held->from->timeline(content_.kind());
    const bool is_new = scale_ == nullptr;
    scale_ = std::make_unique<GapScale>(held->from->graph, held->from->analysis, data, held->block,
                                        held->preview);
    // A block that a command picked up may be outside of the visible range.
    const auto extent = data.extent(held->handle);
    if (is_new && !pressed_ && extent.end > extent.begin) range_.reveal(extent.begin, extent.end);
    // The pointer may have moved while the positions were being computed.
    if (pressed_ && is_dragged_) follow(last_.x(), true);
  }
  emit changed();
}

int MoveTool::x_of(std::size_t gap) const {
  return static_cast<int>(
      std::lround(range_.axis().to_pixel(static_cast<double>(scale_->position(gap)))));
}

void MoveTool::paint(QPainter& painter, const TimelineLayout& layout, const Theme& theme) const {
  const HeldMove* held = planner_.held();
  if (held == nullptr || !scale_) return;
  const MoveStrip strip(*held, *scale_, range_.axis(), layout, theme);
  strip.paint_range(painter, layout.content());
  strip.paint_strip(painter);
}

}  // namespace jointer::views
