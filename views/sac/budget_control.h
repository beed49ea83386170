#pragma once

#include <QComboBox>
#include <QDoubleSpinBox>
#include <QSlider>
#include <QWidget>
#include <cstdint>
#include <optional>

#include "views/widgets/byte_box.h"

namespace jointer::views {

// Limits a plan's memory, either by torch's activation budget or by a limit on peak memory. A slider and a field show the same value. Each intermediate
// value emits `tried`; releasing the slider or pressing Enter emits `chosen`.
class BudgetControl : public QWidget {
  Q_OBJECT
 public:
  explicit BudgetControl(QWidget* parent = nullptr);

  // torch's activation budget. Not used if a peak is set.
  [[nodiscard]] double budget() const;
  [[nodiscard]] std::optional<std::int64_t> max_peak() const;
  // Shows the budget and the peak of the current plan, and sets the range of peaks. Emits no
  // signal.
  void show_plan(double budget, std::int64_t peak_bytes, std::int64_t min_bytes,
                 std::int64_t max_bytes);

  // Adapts to a pane of this width.
  void fit(int pane_width);

  // The visible field: the one for a budget, or a ByteBox for a peak.
  [[nodiscard]] QDoubleSpinBox& box() { return is_peak() ? *peak_box_ : *budget_box_; }

 signals:
  // Another quantity is limited; the control shows its value for the current plan.
  void unit_changed();
  void tried();
  void chosen();

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  [[nodiscard]] bool is_peak() const { return unit_->currentIndex() == 1; }
  void show_box();
  void follow_slider();
  void follow_box();
  void place_slider();
  void add_box(QDoubleSpinBox& box);

  QComboBox* unit_ = nullptr;
  QSlider* slider_ = nullptr;
  QDoubleSpinBox* budget_box_ = nullptr;
  ByteBox* peak_box_ = nullptr;
  double budget_ = 1;  // of the shown plan
  std::int64_t peak_ = 0, min_ = 0, max_ = 1;
  double pressed_at_ = 0;  // value of the field when the slider was pressed
};

}  // namespace jointer::views
