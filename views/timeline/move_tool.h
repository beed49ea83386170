#pragma once

#include <QElapsedTimer>
#include <QKeyEvent>
#include <QObject>
#include <QPainter>
#include <QTimer>
#include <memory>

#include "views/timeline/gap_scale.h"
#include "views/timeline/move_strip.h"

namespace jointer::views {

class TimelineView;

// Moves what a person takes hold of in the timeline: a collective by its block (its start, or at
// the right end its wait), a wait by its stall, any node in program order. The view hands over
// events; what is true of them here, is not the view's any more.
class MoveTool : public QObject {
  Q_OBJECT
 public:
  // Must outlive it.
  explicit MoveTool(TimelineView& view);

  // True: the press is on something that may be moved.
  bool press(QPoint at, Qt::KeyboardModifiers modifiers);
  bool move(QPoint at, Qt::KeyboardModifiers modifiers);
  // True: it was moved, or held; false: it was a click.
  bool release();
  bool key(const QKeyEvent& event);
  // Something is held, by the pointer or by a command.
  [[nodiscard]] bool is_holding() const;
  // The pointer has something, held or about to be.
  [[nodiscard]] bool is_pressed() const { return static_cast<bool>(pressed_); }

  void paint(QPainter& painter) const;
  // Where a gap is on screen, for the pointer.
  [[nodiscard]] int x_of(std::size_t gap) const;

 private:
  void take();
  void take_held();
  void follow(int x, bool snaps);
  void scroll();
  void anchor();

  TimelineView& view_;
  MovePlanner& planner_;
  NodeId pressed_;
  QPoint press_, last_;
  bool is_dragged_ = false, carried_by_key_ = false, is_scrolling_ = false;
  double begin_ = 0, end_ = 0;  // of the axis, when the pointer last moved
  QTimer patience_;             // a press that lasts takes hold without a motion
  QTimer scrolling_;            // beyond an edge of the view
  std::unique_ptr<GapScale> scale_;
};

}  // namespace jointer::views
