#include "views/window/plan_figure.h"

#include "views/session/edit/metrics.h"
#include "views/session/open/open_graph.h"
#include "views/session/text/capacity_text.h"
#include "views/session/text/number_text.h"

namespace jointer::views {
namespace {

QString text_of(const Figures& figures) {
  return PlanFigure::tr("%1 · %2").arg(bytes_text(figures.peak_bytes), time_text(figures.step_ns));
}

}  // namespace

PlanFigure::PlanFigure(SacSession& session, QWidget* parent)
    : FigureBox({}, {}, parent), session_(session) {
  value().setObjectName(QStringLiteral("planned"));
  set_name(is_step() ? tr("With tags applied") : tr("As partitioned"));
  connect(&session_, &SacSession::changed, this, &PlanFigure::refresh);
  connect(&session_, &SacSession::figures_changed, this, &PlanFigure::refresh);
  connect(&session_, &SacSession::working_changed, this, &PlanFigure::refresh);
  connect(&session_, &SacSession::previewed, this, &PlanFigure::refresh);
  connect(&session_.reserved(), &PlanReserved::changed, this, &PlanFigure::refresh);
  connect(&session_.ordered(), &PlanOrdered::changed, this, &PlanFigure::refresh);
  refresh();
}

bool PlanFigure::is_step() const {
  return sac_kind(session_.open_graph().graph()) == SacKind::step;
}

// Without tags, a training step's plan would repeat the other numbers.
bool PlanFigure::has_plan() const {
  const SacKind kind = sac_kind(session_.open_graph().graph());
  if (kind != SacKind::step) return kind == SacKind::joint;
  const SacStatePtr state = session_.state();
  const auto& preview = session_.shown_preview();
  return state && (state->applied_tags.any || (preview && preview->outcome));
}

QString PlanFigure::how() const {
  return is_step()
             ? tr("The training step with its tags applied: peak memory, step time and its parts, "
                  "and reserved memory. The other numbers describe the step without its tags.")
             : tr("The pair that the partitioner produces from this joint graph under the SAC "
                  "pane's plan, including recomputation: peak memory, step time and its parts, and "
                  "reserved memory. The other numbers describe the joint graph itself.");
}

void PlanFigure::refresh() {
  setVisible(has_plan());
  if (has_plan()) {
    const SacStatePtr state = session_.state();
    if (!session_.figures())
      show_missing();
    else if (!state || state->figures != *session_.figures())
      show_remembered();
    else
      show_plan(*state);
  }
  emit refreshed();
}

// If there are numbers of a previous plan, they stay on screen in gray, so that nothing moves.
void PlanFigure::show_missing() {
  const bool is_coming = session_.problem().isEmpty() || session_.is_working();
  if (!session_.state()) {
    value().setText(is_coming ? tr("computing...") : QStringLiteral("\u2013"));
    set_terms({}, {});
  }
  value().setEnabled(false);
  terms().setEnabled(false);
  hide_change();
  set_was(!is_coming         ? (is_step() ? tr("not computed") : tr("not partitioned"))
          : session_.state() ? tr("computing...")
                             : QString());
  explain(session_.problem().isEmpty() ? how() : how() + u'\n' + session_.problem());
}

void PlanFigure::show_remembered() {
  hide_change();
  value().setText(text_of(session_.figures()->figures));
  value().setEnabled(true);
  show_terms(session_.figures()->figures, session_.figures()->compute_ns);
  terms().setEnabled(true);
  explain(how());
}

void PlanFigure::show_terms(const Figures& figures, std::int64_t compute_ns) {
  const std::int64_t host_ns = figures.step_ns - compute_ns - figures.exposed_ns;
  const auto text = [&](const QString& form) {
    return form.arg(time_text(compute_ns), time_text(figures.exposed_ns), time_text(host_ns));
  };
  set_terms(text(tr("%1 compute + %2 exposed + %3 CPU wait")), text(tr("%1 + %2 + %3")));
}

// Compares the current plan with the plan as solved or, during a preview, the preview with the
// current plan. If the preview is in the order found for it, so is the current plan. Without a
// preview, the current plan is always in its order, which is also the one that opening the pair or
// applying the tags gives; until its numbers are known, those of the plan's own order are grayed.
void PlanFigure::show_plan(const SacState& state) {
  const auto& preview = session_.shown_preview();
  const bool is_asked = preview && preview->outcome;
  const PlanOrdered& ordered = session_.ordered();
  const bool is_unordered = !is_asked && ordered.has_order() && !ordered.figures();
  const Figures& own = state.figures.figures;
  const Figures& now = is_asked ? preview->shown()->figures.figures : session_.figures_in_order();
  const Figures& origin = state.reference()->figures.figures;
  const Figures& was = !is_asked ? origin : preview->ordered ? session_.figures_in_order() : own;
  value().setText(text_of(now));
  value().setEnabled(!is_unordered);
  show_terms(now, is_asked ? preview->shown()->figures.compute_ns : session_.compute_ns_in_order());
  terms().setEnabled(!is_unordered);
  show_warning(over_capacity_text(now.peak_bytes, state.snapshot->analysis.device));
  QStringList more;
  const auto reserved =
      ordered.figures() ? ordered.figures()->reserved_bytes : session_.reserved().bytes();
  if (reserved && !is_asked && !is_unordered) more << tr("reserved %1").arg(bytes_text(*reserved));
  if (is_unordered) more << tr("not reordered");
  const QString beside =
      is_asked ? tr("%1, currently %2").arg(preview->name(), text_of(was)) : more.join(tr(" · "));
  const bool same_peak = now.peak_bytes == was.peak_bytes;
  show_change(same_peak ? was.step_ns : was.peak_bytes, same_peak ? now.step_ns : now.peak_bytes,
              beside,
              tr("%1 · %2").arg(bytes_difference_text(was.peak_bytes, now.peak_bytes),
                                time_difference_text(was.step_ns, now.step_ns)));
  QStringList lines{
      how(), (is_step() ? tr("Without tags: %1") : tr("As solved: %1")).arg(text_of(origin))};
  if (ordered.has_order())
    lines << tr("Order found for the plan: %1").arg(to_qstring(state.order))
          << tr("In the plan's own order: %1").arg(text_of(own));
  if (is_unordered && !ordered.problem().empty()) lines << to_qstring(ordered.problem());
  explain(lines.join(u'\n'));
}

}  // namespace jointer::views
