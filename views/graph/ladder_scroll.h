#pragma once

#include <QObject>
#include <QPointF>
#include <QScrollBar>
#include <QSize>
#include <string>

#include "views/graph/ladder_model.h"
#include "views/graph/ladder_view.h"

namespace jointer::views {

// The visible part of a ladder and the scroll bars that show it. Points are relative to the area
// that shows the ladder.
class LadderScroll : public QObject {
  Q_OBJECT
 public:
  // All must outlive this object.
  LadderScroll(const LadderModel& model, QScrollBar& horizontal, QScrollBar& vertical);

  [[nodiscard]] const LadderView& view() const { return view_; }

  void zoom_at(QPointF point, double factor);
  void pan(QPoint pixels);
  // Stays within the ends of the ladder; from beyond an end, only moves back.
  void turn(QPointF pixels);
  // Scrolls by the minimum needed. `room`: margin above and below in pixels.
  void show_place(const LadderRect& rect, double room = 0);
  void to_top();
  // Centers a height that is given as a fraction of the whole ladder.
  void center_at(double share);

  // A box that keeps its place on screen while the layout changes.
  struct Anchor {
    std::string key;  // of a row, or empty
    LadderSide side = LadderSide::forward;
    double x = 0, y = 0;  // the outer top corner of the box
  };
  [[nodiscard]] Anchor anchor_at(int row, LadderSide side) const;
  // The first visible row.
  [[nodiscard]] Anchor anchor_on_screen() const;
  // Shows the anchor at its place again, in an area of this size.
  void restore(const Anchor& anchor, QSize area);

 public slots:
  void fit();

 signals:
  void changed();

 private:
  void set_view(const LadderView& view);
  void set_bars();
  void take_bars();

  const LadderModel& model_;
  QScrollBar& horizontal_;
  QScrollBar& vertical_;
  LadderView view_;
  bool is_setting_bars_ = false;
};

}  // namespace jointer::views
