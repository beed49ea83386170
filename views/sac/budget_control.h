#pragma once

#include <QComboBox>
#include <QDoubleSpinBox>
#include <QSlider>
#include <QWidget>
#include <cstdint>
#include <optional>

#include "core/partition/pareto.h"
#include "views/widgets/byte_box.h"

namespace jointer::views {

// Selects torch's activation budget, or a limit on a plan's peak or reserved memory. A slider and a
// field show the same value. Each intermediate value emits `tried`; releasing the slider at a
// different value, or pressing Enter, emits `chosen`.
class BudgetControl : public QWidget {
  Q_OBJECT
 public:
  explicit BudgetControl(QWidget* parent = nullptr);

  // torch's activation budget: the value of the field or, while a limit is set, the budget of the
  // current plan.
  [[nodiscard]] double budget() const { return is_limit() ? budget_ : budget_box_->value(); }
  // The limit on `memory()` in bytes; nullopt if a budget is set instead.
  [[nodiscard]] std::optional<std::int64_t> limit() const;
  [[nodiscard]] LimitedMemory memory() const {
    return unit() == Unit::reserved ? LimitedMemory::reserved : LimitedMemory::allocated;
  }
  // If there is a limit, sets the memory that it applies to. Emits no signal.
  void set_memory(LimitedMemory memory);

  // The current plan's memory and the range of limits on the slider, in bytes.
  struct Bytes {
    std::int64_t plan = 0, min = 0, max = 1;
    friend bool operator==(const Bytes&, const Bytes&) = default;
  };
  // Both functions show numbers of the current plan. They emit no signal, except `unit_changed` if
  // reserved memory was limited and can no longer be.
  void show_budget(double budget);
  // `reserved` is nullopt if there is no caching allocator, so that its memory cannot be limited.
  void show_bytes(const Bytes& peak, const std::optional<Bytes>& reserved);

  // Gives the slider a fifth of the pane's width, within limits, or less if the control then fits
  // into `width`, the space that the other controls in its row leave.
  void fit(int pane_width, int width);

  // The visible field: the field for the budget, or the ByteBox for a limit.
  [[nodiscard]] QDoubleSpinBox& box() { return is_limit() ? *limit_box_ : *budget_box_; }

 signals:
  // The limited quantity has changed; the control shows its value for the current plan.
  void unit_changed();
  void tried();
  void chosen();

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  enum class Unit : std::uint8_t { budget, peak, reserved };
  [[nodiscard]] Unit unit() const { return static_cast<Unit>(unit_->currentData().toInt()); }
  [[nodiscard]] bool is_limit() const { return unit() != Unit::budget; }
  // The bytes of the limited memory; those of the peak if a budget is set.
  [[nodiscard]] const Bytes& bytes() const {
    return unit() == Unit::reserved && reserved_ ? *reserved_ : peak_;
  }
  void show_box();
  void follow_slider();
  void follow_box();
  void place_slider();
  void add_box(QDoubleSpinBox& box);

  QComboBox* unit_ = nullptr;
  QSlider* slider_ = nullptr;
  QDoubleSpinBox* budget_box_ = nullptr;
  ByteBox* limit_box_ = nullptr;
  double budget_ = 1;  // the budget of the shown plan
  Bytes peak_;
  std::optional<Bytes> reserved_;
  double pressed_at_ = 0;  // value of the field when the slider was pressed
};

}  // namespace jointer::views
