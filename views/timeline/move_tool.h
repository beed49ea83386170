#pragma once

#include <QElapsedTimer>
#include <QKeyEvent>
#include <QObject>
#include <QPainter>
#include <QTimer>
#include <memory>

#include "views/timeline/gap_scale.h"
#include "views/timeline/move_strip.h"
#include "views/timeline/timeline_range.h"

namespace jointer::views {

// Lets the user move blocks by dragging them in the timeline: a collective (its start, or its wait
// at its right end), a wait by its stall, or any node in program order. The view passes its events
// on; if a function returns true, it has handled the event, and the view must ignore it.
class MoveTool : public QObject {
  Q_OBJECT
 public:
  // Both arguments must outlive this object.
  MoveTool(const TimelineContent& content, TimelineRange& range);

  // `grip`: the node that a press at `at` would pick up, if any. Returns true if it may be moved.
  bool press(QPoint at, NodeId grip, Qt::KeyboardModifiers modifiers);
  bool move(QPoint at, Qt::KeyboardModifiers modifiers);
  // Returns true if a block was moved or held; false for a click.
  bool release();
  bool key(const QKeyEvent& event);
  // True if a block is held, by the pointer or by a command.
  [[nodiscard]] bool is_holding() const;

  void paint(QPainter& painter, const TimelineLayout& layout, const Theme& theme) const;

 signals:
  // The held block or its position has changed.
  void changed();

 private:
  void take();
  void take_held();
  void follow(int x, bool snaps);
  void scroll();
  void anchor();
  // The x coordinate of a gap.
  [[nodiscard]] int x_of(std::size_t gap) const;
  // How far the pointer is beyond the edges of the axis, including a narrow margin inside them, in
  // pixels; negative on the left.
  [[nodiscard]] int beyond_edge(int x) const;

  const TimelineContent& content_;
  TimelineRange& range_;
  MovePlanner& planner_;
  NodeId pressed_;
  QPoint press_, last_;
  bool is_dragged_ = false, moved_by_key_ = false, is_scrolling_ = false;
  double begin_ = 0, end_ = 0;  // visible range when the pointer last moved
  QTimer patience_;             // a long press picks up a node without any motion
  QTimer scrolling_;            // beyond an edge of the view
  std::unique_ptr<GapScale> scale_;
};

}  // namespace jointer::views
