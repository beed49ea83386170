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

// The value that the user typed; nullopt, which stands for the default, if the text is empty.
// Invalid input becomes a string, which validation then rejects.
std::optional<PassValue> typed_value(const Parameter& parameter, const QString& text);
// The value as the user would type it.
QString typed_text(const PassValue& value);

// A form field for a parameter of a pass: a name, a control, a reset button and, below them, a
// description or an error.
class ParameterField : public QWidget {
  Q_OBJECT
 public:
  // If `is_stacked`, the name is above the control, for narrow forms.
  ParameterField(const Parameter& parameter, bool is_stacked, QWidget* parent = nullptr);

  [[nodiscard]] const Parameter& parameter() const { return parameter_; }
  // Shows a value; nullopt shows the default. Does not emit `edited`.
  void show_value(const std::optional<PassValue>& given);
  // The reason why the value is invalid; empty if it is valid.
  [[nodiscard]] const QString& mistake() const { return mistake_; }

  // Exactly one of these three is not null.
  [[nodiscard]] QLineEdit* line() const { return line_; }
  [[nodiscard]] QCheckBox* check() const { return check_; }
  [[nodiscard]] QComboBox* choice() const { return choice_; }
  [[nodiscard]] QToolButton& reset() const { return *reset_; }
  [[nodiscard]] QLabel& hint() const { return *hint_; }

 signals:
  // nullopt stands for the default.
  void edited(const std::optional<jointer::PassValue>& value);

 protected:
  void changeEvent(QEvent* event) override;

 private:
  QWidget* make_control();
  void commit(const std::optional<PassValue>& value);
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
