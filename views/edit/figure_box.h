#pragma once

#include <QLabel>
#include <QWidget>

namespace jointer::views {

// One figure with its name over it. Of what is edited, it stands beside what it was and by how much
// it changed.
class FigureBox : public QWidget {
  Q_OBJECT
 public:
  // `how`: how the figure is made, for whoever rests the pointer on it.
  FigureBox(const QString& name, const QString& how, QWidget* parent);

  void set_name(const QString& name);
  [[nodiscard]] QLabel& value() { return *value_; }
  // Beside the name; hidden until it is shown.
  [[nodiscard]] QLabel& was() { return *was_; }
  [[nodiscard]] QLabel& change() { return *change_; }

  // Less is better: a smaller number has the accent's colour, a larger one that of warnings.
  void show_change(std::int64_t from, std::int64_t to, const QString& was, const QString& change);
  void hide_change();

 private:
  QLabel* name_ = nullptr;
  QLabel* value_ = nullptr;
  QLabel* was_ = nullptr;
  QLabel* change_ = nullptr;
};

}  // namespace jointer::views
