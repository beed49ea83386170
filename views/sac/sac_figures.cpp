#include "views/sac/sac_figures.h"

#include <QVBoxLayout>

#include "views/benchmark/flow_layout.h"
#include "views/document/node_text.h"
#include "views/document/number_text.h"
#include "views/edit/metrics.h"
#include "views/sac/sac_model.h"

namespace jointer::views {
namespace {

constexpr int kMargin = 8, kSpacing = 18;

}  // namespace

QString plan_difference_text(const PlanFigures& from, const PlanFigures& to) {
  QStringList parts;
  const auto add = [&](const QString& name, std::int64_t a, std::int64_t b, auto text) {
    if (a != b) parts << QStringLiteral("%1 %2").arg(name, text(a, b));
  };
  add(SacFigures::tr("peak"), from.figures.peak_bytes, to.figures.peak_bytes,
      bytes_difference_text);
  add(SacFigures::tr("step"), from.figures.step_ns, to.figures.step_ns, time_difference_text);
  add(SacFigures::tr("saved"), from.saved_bytes, to.saved_bytes, bytes_difference_text);
  add(SacFigures::tr("offloaded"), from.offloaded_bytes, to.offloaded_bytes, bytes_difference_text);
  add(SacFigures::tr("recomputed calls"), static_cast<std::int64_t>(from.recomputed),
      static_cast<std::int64_t>(to.recomputed), count_difference_text);
  return parts.isEmpty() ? SacFigures::tr("no figure changes") : parts.join(QStringLiteral(" · "));
}

SacFigures::SacFigures(SacSession& session, QWidget* parent) : QWidget(parent), session_(session) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(kMargin, kMargin, kMargin, 0);
  column->setSpacing(2);
  auto* boxes = new QWidget(this);
  new FlowLayout(boxes, kSpacing, 4);
  column->addWidget(boxes);
  peak_ = add(tr("Peak"),
              tr("The most bytes alive at once when the forward and the backward run as two "
                 "graphs with this plan between them."));
  step_ = add(tr("Step"), tr("Estimated time of the step with what runs again in the backward."));
  saved_ = add(tr("Saved"), tr("Activations that stay on the device between the forward and the "
                               "backward, by storage."));
  offloaded_ = add(tr("Offloaded"), tr("Of what is kept, what spends the time between on the "
                                       "host."));
  recomputed_ = add(tr("Recomputed"), tr("Calls of the forward that run again in the backward, "
                                         "and their estimated time."));
  what_if_ = new QLabel(this);
  what_if_->setObjectName(QStringLiteral("what_if"));
  what_if_->setForegroundRole(QPalette::PlaceholderText);
  // One line, always there: nothing jumps when the pointer comes.
  what_if_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
  what_if_->setMinimumHeight(what_if_->fontMetrics().height());
  column->addWidget(what_if_);
  connect(&session_, &SacSession::changed, this, &SacFigures::refresh);
  connect(&session_, &SacSession::previewed, this, &SacFigures::show_preview);
  refresh();
}

FigureBox* SacFigures::add(const QString& name, const QString& how) {
  QWidget* boxes = layout()->itemAt(0)->widget();
  auto* box = new FigureBox(name, how, boxes);
  box->setProperty("how", how);
  boxes->layout()->addWidget(box);
  return box;
}

// Beside the plan as it was solved, once it is another; the joint graph's own figure is what the
// pointer tells.
void SacFigures::show(FigureBox& box, std::int64_t was, std::int64_t now,
                      std::optional<std::int64_t> joint, QString (*text)(std::int64_t),
                      QString (*difference)(std::int64_t, std::int64_t)) {
  if (was == now)
    box.hide_change();
  else
    box.show_change(was, now, tr("solved %1").arg(text(was)), difference(was, now));
  QStringList lines{box.property("how").toString(), tr("As solved: %1").arg(text(was))};
  if (joint)
    lines << tr("The joint graph as captured, which keeps everything: %1").arg(text(*joint));
  box.setToolTip(lines.join(u'\n'));
}

void SacFigures::refresh() {
  const SacStatePtr state = session_.state();
  setVisible(state != nullptr);
  if (!state) return;
  const PlanFigures& now = state->figures;
  peak_->value().setText(bytes_text(now.figures.peak_bytes));
  step_->value().setText(time_text(now.figures.step_ns));
  saved_->value().setText(bytes_text(now.saved_bytes));
  offloaded_->setVisible(now.offloaded_bytes > 0);
  offloaded_->value().setText(bytes_text(now.offloaded_bytes));
  recomputed_->value().setText(
      now.recomputed == 0
          ? tr("nothing")
          : tr("%1 · %2").arg(count_text(now.recomputed), time_text(now.recompute_ns)));
  if (state->can_change()) {
    const PlanFigures& was = state->base->figures;
    const Analysis& joint = state->snapshot->analysis;
    show(*peak_, was.figures.peak_bytes, now.figures.peak_bytes, joint.memory.peak_bytes(),
         bytes_text, bytes_difference_text);
    show(*step_, was.figures.step_ns, now.figures.step_ns, joint.simulation.step_ns(), time_text,
         time_difference_text);
    show(*saved_, was.saved_bytes, now.saved_bytes, std::nullopt, bytes_text,
         bytes_difference_text);
    show(*recomputed_, was.recompute_ns, now.recompute_ns, std::nullopt, time_text,
         time_difference_text);
  }
  show_preview();
}

void SacFigures::show_preview() {
  const auto& preview = session_.shown_preview();
  const SacStatePtr state = session_.state();
  if (!preview || !state || preview->nodes.empty()) return what_if_->clear();
  const QString what = preview->nodes.size() == 1
                           ? to_qstring(state->snapshot->graph.name(preview->nodes.front()))
                           : tr("%1 tensors").arg(count_text(preview->nodes.size()));
  const QString verb = preview->keep ? keep_word(*preview->keep) : tr("leave to the partitioner");
  const QString text =
      preview->refusal.isEmpty()
          ? tr("To %1 %2: %3")
                .arg(verb, what, plan_difference_text(state->figures, preview->figures))
          : preview->refusal;
  what_if_->setText(text);
  what_if_->setToolTip(text);
}

}  // namespace jointer::views
