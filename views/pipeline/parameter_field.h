#pragma once

#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QToolButton>
#include <QWidget>
#include <optional>

#include "core/pass/parameter.h"

namespace jointer::views {

// What a person typed for a parameter; nothing: as by default. What is no value of it stays a text,
// which checking then refuses.
std::optional<PassValue> typed_value(const Parameter& parameter, const QString& text);
// The value as a person would type it.
QString typed_text(const PassValue& value);

// A field of a form, made from what a pass declares: name, control, the way back to the default,
// and below what it means or what is wrong with what is in it.
class ParameterField : public QWidget {
  Q_OBJECT
 public:
  // Stacked: the name stands over the control, for want of room beside it.
  ParameterField(const Parameter& parameter, bool is_stacked, QWidget* parent = nullptr);

  [[nodiscard]] const Parameter& parameter() const { return parameter_; }
  // None given: shows the default. Does not signal `edited`.
  void show_value(const std::optional<PassValue>& given);
  // Why what is in the field cannot be; empty if it can.
  [[nodiscard]] const QString& mistake() const { return mistake_; }

  // One of them is there.
  [[nodiscard]] QLineEdit* line() const { return line_; }
  [[nodiscard]] QCheckBox* check() const { return check_; }
  [[nodiscard]] QComboBox* choice() const { return choice_; }
  [[nodiscard]] QToolButton& reset() const { return *reset_; }
  [[nodiscard]] QLabel& hint() const { return *hint_; }

 signals:
  // None: as by default.
  void edited(const std::optional<jointer::PassValue>& value);

 protected:
  void changeEvent(QEvent* event) override;

 private:
  QWidget* make_control();
  void tell(const std::optional<PassValue>& value);
  void show_state(const std::optional<PassValue>& given);

  Parameter parameter_;
  QLabel* name_ = nullptr;
  QLineEdit* line_ = nullptr;
  QCheckBox* check_ = nullptr;
  QComboBox* choice_ = nullptr;
  QToolButton* reset_ = nullptr;
  QLabel* hint_ = nullptr;
  QString mistake_;
  std::optional<PassValue> given_;
};

}  // namespace jointer::views
