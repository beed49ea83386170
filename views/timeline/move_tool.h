#pragma once

#include <QElapsedTimer>
#include <QKeyEvent>
#include <QObject>
#include <QPainter>
#include <QTimer>
#include <memory>
#include <optional>

#include "views/timeline/gap_scale.h"
#include "views/timeline/move_strip.h"
#include "views/timeline/timeline_range.h"
#include "views/timeline/timeline_scene.h"

namespace jointer::views {

// The node that a press at `at` would pick up; invalid if there is none.
NodeId grip_at(const TimelineScene& scene, QPoint at);

// Lets the user move blocks by dragging them in the timeline: a collective (by its start or, at its
// right end, by its wait), a wait by its stall, or any other node that can move, in program order
// or once it is selected. The view passes its events to this object; if a function returns true, it
// has handled the event, and the view must ignore it.
class MoveTool : public QObject {
  Q_OBJECT
 public:
  // Both arguments must outlive this object.
  MoveTool(const TimelineContent& content, TimelineRange& range);

  // Returns true if the press can start a drag, or positions a block that is already held.
  bool press(const TimelineScene& scene, QPoint at, Qt::KeyboardModifiers modifiers);
  bool move(QPoint at, Qt::KeyboardModifiers modifiers);
  // Must be called when the pointer moves without a button down: a block that a command picked up
  // follows the pointer.
  void hover(QPoint at, Qt::KeyboardModifiers modifiers);
  // Returns false for a click; true if a block was held, or if the pointer was dragged or the drag
  // was cancelled while the button was down.
  bool release();
  bool key(const QKeyEvent& event);
  // Returns true if a block is held, by the pointer or by a command.
  [[nodiscard]] bool is_holding() const { return planner_.held() != nullptr; }

  void paint(QPainter& painter, const TimelineLayout& layout, const Theme& theme) const;

 signals:
  // The held block or its position has changed.
  void changed();

 private:
  void take();
  void follow_held();
  void follow(int x, bool snaps);
  // Moves the block, which a command has picked up, to the pointer.
  void place_at(int x, bool snaps);
  void scroll();
  void anchor();
  // The x coordinate of a gap.
  [[nodiscard]] int x_of(std::size_t gap) const;
  // The distance in pixels by which the pointer is inside or beyond a narrow margin at an edge of
  // the axis: negative at the left edge, positive at the right edge, and 0 between the margins.
  [[nodiscard]] int beyond_edge(int x) const;

  const TimelineContent& content_;
  TimelineRange& range_;
  MovePlanner& planner_;
  NodeId pressed_;
  QPoint press_, last_;
  bool is_dragged_ = false, moved_by_key_ = false, is_scrolling_ = false;
  // Where the pointer was when something else last moved the block, and the block's position since
  // then. The block follows once the pointer has clearly moved, so that keys can place it too.
  struct Hover {
    QPoint from;
    std::size_t gap = 0;
    bool follows = false;
  };
  std::optional<Hover> hover_;
  double begin_ = 0, end_ = 0;  // the visible range after its last change
  QTimer patience_;             // a long press picks up a node without pointer motion
  QTimer scrolling_;            // runs while the pointer is at or beyond an edge of the axis
  std::unique_ptr<GapScale> scale_;
};

}  // namespace jointer::views
