#pragma once

#include <QCheckBox>
#include <QComboBox>
#include <QPushButton>
#include <QSpinBox>
#include <QWidget>

#include "views/session/benchmark/benchmarks.h"

namespace jointer::views {

// Settings and buttons for the next run. Options that are unavailable on this machine are disabled,
// with the reason as a tooltip.
class BenchmarkForm : public QWidget {
  Q_OBJECT
 public:
  explicit BenchmarkForm(Benchmarks& benchmarks, QWidget* parent = nullptr);

  [[nodiscard]] QPushButton& run_button() { return *run_; }
  // Why no run can start; while one can start or is running, the devices of this machine.
  [[nodiscard]] const QString& hint() const { return hint_; }

 signals:
  void hint_changed();

 private:
  void make_buttons();
  void make_fields();
  QWidget* add_field(const QString& label, QWidget* control, const QString& tip);
  template <class Choice>
  QComboBox* make_choices(const std::vector<Choice>& choices);
  QSpinBox* make_number(int min, int max);
  QCheckBox* add_check(const QString& label, const QString& tip);
  void show_settings();
  void read_settings();
  void refresh();

  Benchmarks& benchmarks_;
  QPushButton* run_ = nullptr;
  QPushButton* cancel_ = nullptr;
  QComboBox* backend_ = nullptr;
  QComboBox* ranks_ = nullptr;
  QSpinBox* solo_ = nullptr;
  QWidget* solo_field_ = nullptr;
  QWidget* marked_field_ = nullptr;
  QLineEdit* marked_ = nullptr;  // regions for the regional backend
  QComboBox* on_ = nullptr;
  QSpinBox* iterations_ = nullptr;
  QSpinBox* warmup_ = nullptr;
  QComboBox* attention_ = nullptr;
  QComboBox* tf32_ = nullptr;
  QSpinBox* seed_ = nullptr;
  QCheckBox* verify_ = nullptr;
  QCheckBox* profile_ = nullptr;
  QString hint_;
  bool is_showing_ = false;
};

}  // namespace jointer::views
