#pragma once

#include <QLabel>
#include <QWidget>

namespace jointer::views {

// A number with its name above it. Once the graph is edited, the original value and the change are
// shown too.
class FigureBox : public QWidget {
  Q_OBJECT
 public:
  // `how` explains how the number is computed and is shown as a tooltip.
  FigureBox(const QString& name, const QString& how, QWidget* parent);

  void set_name(const QString& name);
  [[nodiscard]] QLabel& value() { return *value_; }
  // `was` is next to the name, and the others are next to the value. All three are hidden by
  // default.
  [[nodiscard]] QLabel& was() { return *was_; }
  [[nodiscard]] QLabel& change() { return *change_; }
  [[nodiscard]] QLabel& warning() { return *warning_; }

  // Shows `was` and, if the numbers differ, `change`. Lower is better: a decrease is shown in the
  // accent color, an increase in the warning color.
  void show_change(std::int64_t from, std::int64_t to, const QString& was, const QString& change);
  void hide_change();
  // Shows a text in the warning color after the value, or none if the text is empty.
  void show_warning(const QString& text);

 private:
  QLabel* name_ = nullptr;
  QLabel* value_ = nullptr;
  QLabel* was_ = nullptr;
  QLabel* change_ = nullptr;
  QLabel* warning_ = nullptr;
};

}  // namespace jointer::views
