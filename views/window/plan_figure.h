#pragma once

#include "views/session/sac/sac_session.h"
#include "views/widgets/figure_box.h"

namespace jointer::views {

// Peak memory and step time under the plan, and the parts of the step time, as the SAC pane
// estimates them: for a joint graph as partitioned, or for a flat training step with its tags
// applied. For a joint graph, the box is shown from the start, even while the estimates are being
// computed.
class PlanFigure : public FigureBox {
  Q_OBJECT
 public:
  // `session` must outlive this object.
  explicit PlanFigure(SacSession& session, QWidget* parent = nullptr);

 signals:
  // The numbers may have appeared or disappeared.
  void refreshed();

 private:
  [[nodiscard]] bool is_step() const;
  [[nodiscard]] bool has_plan() const;
  [[nodiscard]] QString how() const;
  void refresh();
  void show_missing();
  void show_remembered();
  void show_plan(const SacState& state);
  // Shows what the step time consists of.
  void show_terms(const Figures& figures, std::int64_t compute_ns);

  SacSession& session_;
};

}  // namespace jointer::views
