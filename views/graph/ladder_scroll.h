#pragma once

#include <QObject>
#include <QPointF>
#include <QScrollBar>
#include <QSize>
#include <string>

#include "views/graph/ladder_model.h"
#include "views/graph/ladder_view.h"

namespace jointer::views {

// The visible part of a ladder, synchronized with two scroll bars. Points are relative to the area
// that shows the ladder.
class LadderScroll : public QObject {
  Q_OBJECT
 public:
  // All arguments must outlive this object.
  LadderScroll(const LadderModel& model, QScrollBar& horizontal, QScrollBar& vertical);

  [[nodiscard]] const LadderView& view() const { return view_; }

  void zoom_at(QPointF point, double factor);
  void pan(QPoint pixels);
  // Scrolls, but not past the ends of the ladder. A view that is already past an end can only move
  // back.
  void turn(QPointF pixels);
  // Scrolls as little as possible to show `rect`, but only vertically if it is wider than the view.
  // `room` is the margin above and below, in pixels.
  void show_place(const LadderRect& rect, double room = 0);
  void to_top();
  // Centers the view vertically at `share`, a fraction of the height of the ladder.
  void center_at(double share);

  // A box that keeps its position on screen while the layout changes.
  struct Anchor {
    std::string key;  // the key of a row, or empty
    LadderSide side = LadderSide::forward;
    double x = 0, y = 0;  // the outer top corner of the box
  };
  [[nodiscard]] Anchor anchor_at(int row, LadderSide side) const;
  // The first row whose top is visible or, if there is none, the first visible row.
  [[nodiscard]] Anchor anchor_on_screen() const;
  // Scrolls so that the anchor is back in its position, in an area of this size.
  void restore(const Anchor& anchor, QSize area);

 public slots:
  void fit();

 signals:
  void changed();

 private:
  void follow_view();
  void set_bars();
  void follow_bars();

  const LadderModel& model_;
  QScrollBar& horizontal_;
  QScrollBar& vertical_;
  LadderView view_;
  bool is_setting_bars_ = false;
};

}  // namespace jointer::views
