#pragma once

#include <QButtonGroup>
#include <QLabel>
#include <QWidget>

#include "views/session/snapshot/snapshot.h"
#include "views/widgets/histogram_plot.h"

namespace jointer::views {

// The distribution of the calls of some rows over their durations or the sizes of their outputs.
// A click on a bar chooses its calls. Hidden if there are fewer than two calls.
class CallHistogram : public QWidget {
  Q_OBJECT
 public:
  explicit CallHistogram(QWidget* parent = nullptr);

  // Only the calls among the nodes count. `title` names the rows.
  void show_calls(SnapshotPtr snapshot, const QString& title, const std::vector<NodeId>& nodes);

 signals:
  void calls_chosen(const std::vector<jointer::NodeId>& nodes);

 private:
  enum Quantity : int { time, bytes };

  [[nodiscard]] Quantity quantity() const { return static_cast<Quantity>(quantity_->checkedId()); }
  [[nodiscard]] std::int64_t value(NodeId node) const;
  [[nodiscard]] QString text(std::int64_t value) const;
  void refresh();

  SnapshotPtr snapshot_;
  QString title_;
  std::vector<NodeId> calls_;  // sorted by the quantity
  QLabel* label_ = nullptr;
  QButtonGroup* quantity_ = nullptr;
  HistogramPlot* plot_ = nullptr;
};

}  // namespace jointer::views
