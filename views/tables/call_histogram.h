#pragma once

#include <QButtonGroup>
#include <QLabel>
#include <QWidget>

#include "views/session/snapshot/range_figures.h"
#include "views/session/snapshot/snapshot.h"
#include "views/widgets/histogram_plot.h"

namespace jointer::views {

// A histogram of the durations or output sizes of the calls in some rows. If a range of time is
// selected, only the parts of durations in this range count. Clicking a bar chooses its calls.
// Hidden if there are fewer than two calls.
class CallHistogram : public QWidget {
  Q_OBJECT
 public:
  explicit CallHistogram(QWidget* parent = nullptr);

  // Ignores nodes that are not calls and, if `figures` is not null, those that do not run in its
  // range. `title` names the rows.
  void show_calls(SnapshotPtr snapshot, const QString& title, const std::vector<NodeId>& nodes,
                  RangeFiguresPtr figures);
  // Lowers the bars so that the widget is at most `height` pixels high or, if they do not fit, at
  // most `max_height`. Hides the bars if they do not fit into that either.
  void fit(int height, int max_height);

 signals:
  void calls_chosen(const std::vector<jointer::NodeId>& nodes);

 private:
  enum Quantity : int { time, bytes };

  [[nodiscard]] Quantity quantity() const { return static_cast<Quantity>(quantity_->checkedId()); }
  [[nodiscard]] std::int64_t value(NodeId node) const;
  [[nodiscard]] QString text(std::int64_t value) const;
  void refresh();

  SnapshotPtr snapshot_;
  RangeFiguresPtr figures_;  // of the range; null for the whole step
  QString title_;
  std::vector<NodeId> calls_;  // sorted by the quantity
  QWidget* bar_ = nullptr;     // the label and the buttons
  QLabel* label_ = nullptr;
  QButtonGroup* quantity_ = nullptr;
  HistogramPlot* plot_ = nullptr;
};

}  // namespace jointer::views
