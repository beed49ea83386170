#pragma once

#include <QLabel>
#include <QToolButton>
#include <QWidget>

#include "views/timeline/timeline_view.h"

namespace jointer::views {

// The bar above a timeline, with controls for the axis, the curves and the zoom, and the visible
// range.
class TimelineBar : public QWidget {
  Q_OBJECT
 public:
  explicit TimelineBar(TimelineView& timeline, QWidget* parent = nullptr);

  // Shows buttons to choose between the joint graph as it is and as partitioned. `is_partitioned`:
  // the current choice.
  void offer_partitioned(bool is_partitioned);

 signals:
  void partitioned_chosen(bool is_partitioned);

 private:
  void add_program_choice();
  QToolButton* add_axis(const QString& text, AxisKind kind, const QString& tip);
  void show_axis(AxisKind kind);
  void show_measurement();
  void fill_measurement_menu();

  TimelineView& timeline_;
  TimelineContent& content_;
  QToolButton* joint_ = nullptr;        // the joint graph as it is
  QToolButton* partitioned_ = nullptr;  // the joint graph as partitioned
  QToolButton* program_order_ = nullptr;
  QToolButton* estimated_time_ = nullptr;
  QToolButton* measured_time_ = nullptr;
  QToolButton* measurement_ = nullptr;  // the measurement shown with the estimates
  QToolButton* ghost_ = nullptr;
  QLabel* range_ = nullptr;
};

}  // namespace jointer::views
