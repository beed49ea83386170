#pragma once

#include <QLabel>
#include <QWidget>
#include <optional>

#include "views/edit/figure_box.h"
#include "views/sac/sac_session.h"

namespace jointer::views {

// What the plan comes to, beside the plan as it was solved and the joint graph, or a flat step with
// its tags carried out, beside the step as it stands; and under it, what it would come to with the
// switch that the pointer or the keys are at.
class SacFigures : public QWidget {
  Q_OBJECT
 public:
  explicit SacFigures(SacSession& session, QWidget* parent = nullptr);

  // What the switch under the pointer, or the slider, would come to; empty if nothing is asked.
  [[nodiscard]] QString what_if() const { return what_if_text_; }
  // Without boxes, the same in two lines of text: where the room is the table's.
  void set_compact(bool compact);

 private:
  FigureBox* add(const QString& name, const QString& how);
  void show(FigureBox& box, std::int64_t was, std::int64_t now, std::optional<std::int64_t> joint,
            QString (*text)(std::int64_t), QString (*difference)(std::int64_t, std::int64_t));
  void show_changes(const SacState& state);
  void explain(const SacState& state);
  void resizeEvent(QResizeEvent* event) override;
  void refresh();
  void show_reserved();
  void show_preview();
  // As much of it as two lines hold, the first things first.
  [[nodiscard]] QString summary() const;
  [[nodiscard]] QString tensors_of(const SacSession::Preview& preview) const;

  SacSession& session_;
  FigureBox* peak_ = nullptr;
  FigureBox* reserved_ = nullptr;
  FigureBox* step_ = nullptr;
  FigureBox* exposed_ = nullptr;
  FigureBox* saved_ = nullptr;
  FigureBox* offloaded_ = nullptr;
  FigureBox* recomputed_ = nullptr;
  QWidget* boxes_ = nullptr;
  QLabel* line_ = nullptr;
  QString what_if_text_;
  bool is_compact_ = false;
};

// "peak +0.1 GiB, step -2.1 ms, saved +0.1 GiB": what differs, or that nothing does.
QString plan_difference_text(const PlanFigures& from, const PlanFigures& to);

}  // namespace jointer::views
