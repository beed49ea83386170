#pragma once

#include <QComboBox>
#include <QDoubleSpinBox>
#include <QSlider>
#include <QWidget>
#include <cstdint>
#include <optional>

#include "views/theme/byte_box.h"

namespace jointer::views {

// How much memory a plan may take: torch's activation budget, or bytes of peak memory for which the
// budget is looked for. A slider and a box that say the same. Every value on the way is `tried`;
// letting go of the slider, or Enter, is `chosen`.
class BudgetControl : public QWidget {
  Q_OBJECT
 public:
  explicit BudgetControl(QWidget* parent = nullptr);

  // torch's activation budget, unless a peak is said.
  [[nodiscard]] double budget() const;
  [[nodiscard]] std::optional<std::int64_t> most_peak() const;
  // How the plan that is shown was solved, its peak, and what peaks lie between; nothing is tried.
  void show_plan(double budget, std::int64_t peak_bytes, std::int64_t least_bytes,
                 std::int64_t most_bytes);

  // As wide as there is room in a pane of that width.
  void fit(int pane_width);

  [[nodiscard]] QComboBox& unit_box() { return *unit_; }
  [[nodiscard]] QSlider& slider() { return *slider_; }
  // The field that is shown: of a budget, or a ByteBox of the peak.
  [[nodiscard]] QDoubleSpinBox& box() { return is_peak() ? *peak_box_ : *budget_box_; }

 signals:
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
  double budget_ = 1;  // of the plan that is shown
  std::int64_t peak_ = 0, least_ = 0, most_ = 1;
  double pressed_at_ = 0;  // the box's value when the slider was taken
};

}  // namespace jointer::views
