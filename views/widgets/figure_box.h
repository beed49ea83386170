#pragma once

#include <QLabel>
#include <QWidget>

namespace jointer::views {

// A number with its name above it and, if it is a sum, its terms below it. Once the graph is
// edited, the original value and the change are shown too.
class FigureBox : public QWidget {
  Q_OBJECT
 public:
  // `how` explains how the number is computed and is shown as a tooltip.
  FigureBox(const QString& name, const QString& how, QWidget* parent);

  void set_name(const QString& name);
  [[nodiscard]] QString name() const { return name_->text(); }
  // Replaces the explanation in the tooltip.
  void explain(const QString& how);
  [[nodiscard]] QLabel& value() { return *value_; }
  // `was` is next to the name, and `warning` is next to the value. Both are hidden while empty.
  [[nodiscard]] QLabel& was() { return *was_; }
  [[nodiscard]] QLabel& warning() { return *warning_; }
  // Below the value; hidden while empty.
  [[nodiscard]] QLabel& terms() { return *terms_; }

  // Shows text next to the name; if it is empty, hides the previous text.
  void set_was(const QString& text);
  // Shows `was` and, if the numbers differ, `change`. Lower is better: a decrease is shown in the
  // accent color, an increase in the warning color.
  void show_change(std::int64_t from, std::int64_t to, const QString& was, const QString& change);
  void hide_change();
  // Moves the text next to the name, or the change next to the value, into the tooltip. For narrow
  // windows.
  void leave_out(bool was, bool change);
  // Shows what the number is the sum of, or nothing if `terms` is empty. `brief`: the same without
  // names, for narrow windows.
  void set_terms(const QString& terms, const QString& brief);
  // Shows the terms without names, which the tooltip then has.
  void shorten_terms(bool is_brief);
  // Sets additional lines of the tooltip, such as those about numbers that are left out.
  void set_note(const QString& note);
  // Shows text in the warning color after the value; if it is empty, hides the previous text.
  void show_warning(const QString& text);

 private:
  void show_parts();

  QString how_, note_, all_terms_, brief_terms_;
  bool leaves_out_was_ = false, leaves_out_change_ = false, has_brief_terms_ = false;
  QLabel* name_ = nullptr;
  QLabel* value_ = nullptr;
  QLabel* was_ = nullptr;
  QLabel* change_ = nullptr;
  QLabel* warning_ = nullptr;
  QLabel* terms_ = nullptr;
};

}  // namespace jointer::views
