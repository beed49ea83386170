#pragma once

#include <QLabel>
#include <QWidget>
#include <optional>

#include "views/session/sac/sac_session.h"
#include "views/widgets/figure_box.h"

namespace jointer::views {

// The numbers of the plan, compared with the plan as solved and with the joint graph. For a flat
// training step, the numbers with its tags applied, compared with those without tags. Below them is
// the current preview, such as that of the switch under the pointer, or else a note or a hint;
// nothing if the plan cannot be changed.
class SacFigures : public QWidget {
  Q_OBJECT
 public:
  explicit SacFigures(SacSession& session, QWidget* parent = nullptr);

  // The text of the current preview, or the reason why it is impossible; empty if there is no
  // preview.
  [[nodiscard]] QString what_if() const { return what_if_text_; }
  // Sets a note that replaces the hint while there is no preview; if it is empty, shows the hint.
  void set_note(const QString& note);
  // Shows `lines` lines of text instead of boxes, to leave space for the table.
  void show_compact(int lines);
  void show_boxes();

 private:
  FigureBox* add(const QString& name, const QString& how);
  void show(FigureBox& box, std::int64_t was, std::int64_t now, std::optional<std::int64_t> joint,
            QString (*text)(std::int64_t), QString (*difference)(std::int64_t, std::int64_t));
  void show_changes(const SacState& state);
  void explain(const SacState& state);
  void resizeEvent(QResizeEvent* event) override;
  void refresh();
  void show_reserved();
  void show_ordered();
  void show_preview();
  [[nodiscard]] QString fit_difference(const Fit& fit) const;
  [[nodiscard]] QString reserved_difference(std::optional<std::int64_t> reserved) const;
  void set_lines(int lines);
  void fit_line();
  // As many numbers as fit into the lines, most important first.
  [[nodiscard]] QString summary() const;
  [[nodiscard]] QString tensors_of(const SacSession::Preview& preview) const;

  SacSession& session_;
  FigureBox* peak_ = nullptr;
  FigureBox* reserved_ = nullptr;
  FigureBox* step_ = nullptr;
  FigureBox* ordered_ = nullptr;
  FigureBox* exposed_ = nullptr;
  FigureBox* saved_ = nullptr;
  FigureBox* offloaded_ = nullptr;
  FigureBox* recomputed_ = nullptr;
  QWidget* boxes_ = nullptr;
  QLabel* line_ = nullptr;
  QString what_if_text_, note_;
  QString advice_;  // about the state; may be empty
  int lines_ = 0;   // of text below the boxes, or instead of them
  bool is_compact_ = false;
};

// The differences between two plans, such as "peak +1.10 GiB · step −2.10 ms · saved +1.10 GiB", or
// "no change".
QString plan_difference_text(const PlanFigures& from, const PlanFigures& to);

}  // namespace jointer::views
