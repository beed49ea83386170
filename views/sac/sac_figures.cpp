#include "views/sac/sac_figures.h"

#include "views/sac/sac_model.h"
#include "views/session/edit/metrics.h"
#include "views/session/sac/step_state.h"
#include "views/session/text/node_text.h"
#include "views/session/text/number_text.h"
#include "views/theme/fonts.h"
#include "views/theme/spacing.h"
#include "views/widgets/controls.h"
#include "views/widgets/flow_layout.h"

namespace jointer::views {
namespace {

const QString kBetween = QStringLiteral(" · ");
// The number of lines of text below the boxes, and the margins above the numbers.
constexpr int kLines = 2, kTop = 4, kCompactTop = 1;

}  // namespace

QString plan_difference_text(const PlanFigures& from, const PlanFigures& to) {
  QStringList parts;
  const auto add = [&](const QString& name, std::int64_t a, std::int64_t b, auto text) {
    if (a != b) parts << QStringLiteral("%1 %2").arg(name, text(a, b));
  };
  add(SacFigures::tr("peak"), from.figures.peak_bytes, to.figures.peak_bytes,
      bytes_difference_text);
  add(SacFigures::tr("step"), from.figures.step_ns, to.figures.step_ns, time_difference_text);
  add(SacFigures::tr("exposed"), from.figures.exposed_ns, to.figures.exposed_ns,
      time_difference_text);
  add(SacFigures::tr("saved"), from.saved_bytes, to.saved_bytes, bytes_difference_text);
  add(SacFigures::tr("offloaded"), from.offloaded_bytes, to.offloaded_bytes, bytes_difference_text);
  add(SacFigures::tr("recomputed calls"), static_cast<std::int64_t>(from.recomputed),
      static_cast<std::int64_t>(to.recomputed), count_difference_text);
  return parts.isEmpty() ? SacFigures::tr("no change") : parts.join(kBetween);
}

SacFigures::SacFigures(SacSession& session, QWidget* parent) : QWidget(parent), session_(session) {
  QVBoxLayout* column = make_column(this, {kMargin, kTop, kMargin, 0}, 2);
  boxes_ = new QWidget(this);
  new FlowLayout(boxes_, 2 * kMargin, 4);
  column->addWidget(boxes_);
  peak_ = add(tr("Peak"), {});
  reserved_ = add(tr("Reserved"), {});
  step_ = add(tr("Step"), tr("Estimated step time, including recomputation in the backward."));
  ordered_ = add(tr("Reordered"), {});
  ordered_->value().setObjectName(QStringLiteral("reordered"));
  exposed_ = add(tr("Exposed"),
                 tr("Time during which the compute stream waits for collectives or for copies "
                    "to or from the host, or during which these run after the last "
                    "kernel."));
  saved_ = add(tr("Saved"), {});
  offloaded_ = add(tr("Offloaded"),
                   tr("Activations that stay in host memory between forward and backward."));
  recomputed_ = add(tr("Recomputed"), tr("Forward calls that are recomputed in the backward, "
                                         "and their estimated time."));
  line_ = add_control(*column, new QLabel(this), "what_if");
  line_->setFont(small_font(font()));
  line_->setForegroundRole(QPalette::PlaceholderText);
  line_->setWordWrap(true);
  line_->setAlignment(Qt::AlignLeft | Qt::AlignTop);
  // The label has a fixed height, so that nothing moves when a preview appears.
  line_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
  set_lines(kLines);
  connect(&session_, &SacSession::changed, this, &SacFigures::refresh);
  connect(&session_, &SacSession::previewed, this, &SacFigures::show_preview);
  connect(&session_.reserved(), &PlanReserved::changed, this, &SacFigures::show_reserved);
  connect(&session_.ordered(), &PlanOrdered::changed, this, &SacFigures::show_ordered);
  refresh();
}

FigureBox* SacFigures::add(const QString& name, const QString& how) {
  auto* box = new FigureBox(name, how, boxes_);
  box->setProperty("how", how);
  // A smaller font than that of the scoreboard leaves more space for the table.
  box->value().setFont(bold_font(font()));
  boxes_->layout()->addWidget(box);
  return box;
}

// Shows the change from the plan as solved, or from the training step without tags. The tooltip
// also has the joint graph's number, if there is one.
void SacFigures::show(FigureBox& box, std::int64_t was, std::int64_t now,
                      std::optional<std::int64_t> joint, QString (*text)(std::int64_t),
                      QString (*difference)(std::int64_t, std::int64_t)) {
  box.show_change(was, now, {}, difference(was, now));
  const bool is_step = session_.state()->is_step();
  QStringList lines{box.property("how").toString(),
                    (is_step ? tr("Without tags: %1") : tr("As solved: %1")).arg(text(was))};
  if (joint)
    lines << tr("Joint graph before partitioning (saves everything): %1").arg(text(*joint));
  box.explain(lines.join(u'\n'));
}

void SacFigures::refresh() {
  const SacStatePtr state = session_.state();
  setVisible(state != nullptr);
  if (!state) return;
  fit_line();
  const PlanFigures& now = state->figures;
  peak_->value().setText(bytes_text(now.figures.peak_bytes));
  step_->value().setText(time_text(now.figures.step_ns));
  exposed_->value().setText(time_text(now.figures.exposed_ns));
  saved_->value().setText(bytes_text(now.saved_bytes));
  offloaded_->value().setText(bytes_text(now.offloaded_bytes));
  recomputed_->value().setText(
      now.recomputed == 0
          ? tr("none")
          : tr("%1 · %2").arg(count_text(now.recomputed), time_text(now.recompute_ns)));
  explain(*state);
  const std::size_t layers = layers_with_recomputed_input(*state);
  advice_ = layers == 0 ? QString()
                        : tr("%1 recomputed as well, which may free little memory. To save the "
                             "inputs, use Checkpoint Layer in the context menu of the layers.")
                              .arg(counted_text(layers, tr("The input of 1 layer is"),
                                                tr("The inputs of %1 layers are")));
  if (state->can_change()) show_changes(*state);
  show_reserved();
  show_ordered();
}

// Shows the step time and the peak in the order that a search found. The other numbers are for the
// plan's own order; their names then say so.
void SacFigures::show_ordered() {
  const SacStatePtr state = session_.state();
  if (!state) return;
  const PlanOrdered& ordered = session_.ordered();
  ordered_->setVisible(ordered.has_order());
  const auto set_name = [&](FigureBox& box, const QString& name) {
    box.set_name(ordered.has_order() ? tr("%1, own order").arg(name) : name);
  };
  set_name(*peak_, tr("Peak"));
  set_name(*reserved_, tr("Reserved"));
  set_name(*step_, tr("Step"));
  set_name(*exposed_, tr("Exposed"));
  if (!ordered.has_order()) return show_preview();
  QStringList lines{tr("Step time and peak after the passes that the search found for this plan: "
                       "%1. Opening the pair, or applying the tags, runs these passes.")
                        .arg(to_qstring(state->order))};
  if (const auto& found = ordered.figures()) {
    ordered_->value().setText(tr("%1 · %2").arg(time_text(found->figures.step_ns),
                                                bytes_text(found->figures.peak_bytes)));
    lines << tr("Exposed: %1").arg(time_text(found->figures.exposed_ns));
    if (found->reserved_bytes) lines << tr("Reserved: %1").arg(bytes_text(*found->reserved_bytes));
  } else {
    ordered_->value().setText(ordered.problem().empty() ? QStringLiteral("…") : tr("not known"));
    if (!ordered.problem().empty()) lines << to_qstring(ordered.problem());
  }
  ordered_->explain(lines.join(u'\n'));
  show_preview();
}

void SacFigures::show_changes(const SacState& state) {
  const PlanFigures& was = state.reference()->figures;
  const PlanFigures& now = state.figures;
  // For a flat training step, changes are already relative to the training step without tags, and
  // there is no joint graph.
  std::optional<Figures> joint;
  if (state.base) {
    const Analysis& analysis = state.snapshot->analysis;
    joint = Figures{analysis.memory.peak_bytes(), analysis.simulation.step_ns(),
                    analysis.simulation.exposed_ns()};
  }
  const auto of_joint = [&](std::int64_t Figures::*figure) {
    return joint ? std::optional((*joint).*figure) : std::nullopt;
  };
  show(*peak_, was.figures.peak_bytes, now.figures.peak_bytes, of_joint(&Figures::peak_bytes),
       bytes_text, bytes_difference_text);
  show(*step_, was.figures.step_ns, now.figures.step_ns, of_joint(&Figures::step_ns), time_text,
       time_difference_text);
  show(*exposed_, was.figures.exposed_ns, now.figures.exposed_ns, of_joint(&Figures::exposed_ns),
       time_text, time_difference_text);
  show(*offloaded_, was.offloaded_bytes, now.offloaded_bytes, std::nullopt, bytes_text,
       bytes_difference_text);
  show(*saved_, was.saved_bytes, now.saved_bytes, std::nullopt, bytes_text, bytes_difference_text);
  show(*recomputed_, was.recompute_ns, now.recompute_ns, std::nullopt, time_text,
       time_difference_text);
}

// Sets tooltips that depend on the kind of graph.
void SacFigures::explain(const SacState& state) {
  peak_->setProperty(
      "how", state.base ? tr("Maximum allocated memory if forward and backward run as two graphs "
                             "with this plan.")
             : state.is_step()
                 ? tr("Maximum allocated memory in the training step with its tags applied.")
                 : tr("Maximum allocated memory."));
  reserved_->setProperty(
      "how", state.base ? tr("Memory that the caching allocator would reserve on the device if "
                             "forward and backward run as two graphs with this plan. This "
                             "number appears shortly after the others.")
             : state.is_step()
                 ? tr("Memory that the caching allocator would reserve on the device for the "
                      "training step with its tags applied.")
                 : tr("Memory that the caching allocator would reserve on the device."));
  const QString saved =
      tr("Activations that stay on the device between forward and backward. A "
         "storage that several tensors share counts once.");
  saved_->setProperty(
      "how", state.is_step()
                 ? saved + u'\n' +
                       tr("If forward and backward alternate, as with a chunked loss, these are "
                          "not all live at the same time, and the sum may exceed the peak.")
                 : saved);
  for (FigureBox* box : {peak_, saved_}) box->explain(box->property("how").toString());
}

void SacFigures::show_reserved() {
  const SacStatePtr state = session_.state();
  if (!state) return;
  const Analysis& analysis = state->snapshot->analysis;
  reserved_->setVisible(has_reserved(*state));
  const auto bytes = state->can_change() ? session_.reserved().bytes()
                                         : std::optional(analysis.reserved.peak_bytes);
  reserved_->value().setText(bytes ? bytes_text(*bytes) : QStringLiteral("…"));
  QStringList lines{reserved_->property("how").toString()};
  if (state->can_change())
    lines << (state->is_step() ? tr("Without tags: %1") : tr("Joint graph before partitioning: %1"))
                 .arg(bytes_text(analysis.reserved.peak_bytes));
  reserved_->explain(lines.join(u'\n'));
  show_preview();
}

void SacFigures::show_preview() {
  const auto& preview = session_.shown_preview();
  const SacStatePtr state = session_.state();
  what_if_text_.clear();
  if (preview && state) {
    what_if_text_ = preview->refusal;
    if (preview->outcome) {
      const bool is_found = preview->plan_request && preview->plan_request->fit;
      const bool fits = is_found && preview->plan_request->fit->fits;
      const QString what =
          fits       ? tr("Preview: fastest plan found")
          : is_found ? tr("Preview: closest plan found")
          : preview->settings
              ? tr("Preview: solve with %1").arg(to_qstring(describe(*preview->settings)))
          : preview->action
              ? tr("Preview: %1 %2").arg(action_word(*preview->action), tensors_of(*preview))
              : (state->is_step() ? tr("Preview: untag %1")
                                  : tr("Preview: leave %1 to the partitioner"))
                    .arg(tensors_of(*preview));
      what_if_text_ = tr("%1: %2").arg(
          what, is_found ? fit_difference(*preview->plan_request->fit)
                         : plan_difference_text(state->figures, preview->outcome->figures));
      if (preview->has_order() && !preview->ordered)
        what_if_text_ += kBetween + tr("the curves still show the plan in its own order");
      if (is_found && !fits)
        what_if_text_ = tr("No plan found meets the limit. %1").arg(what_if_text_);
    }
  }
  const QString at_rest =
      !note_.isEmpty() ? note_
      : is_compact_    ? summary()
      : !advice_.isEmpty()
          ? advice_
          : tr("Hover over S, R or O in the table, or drag the slider, to preview a change.");
  const QString text = what_if_text_.isEmpty() ? at_rest : what_if_text_;
  line_->setForegroundRole(text == note_ || text == advice_ ? QPalette::WindowText
                                                            : QPalette::PlaceholderText);
  const bool is_one_line = line_->height() < kLines * line_->fontMetrics().lineSpacing();
  line_->setText(is_one_line ? line_->fontMetrics().elidedText(text, Qt::ElideRight, line_->width())
                             : text);
  line_->setToolTip(text);
}

void SacFigures::set_note(const QString& note) {
  note_ = note;
  show_preview();
}

// The difference between the current plan and one that a search found, each in the order found for
// it.
QString SacFigures::fit_difference(const Fit& fit) const {
  PlanFigures now = session_.state()->figures;
  now.figures = session_.figures_in_order();
  QString text = plan_difference_text(now, fit.point.figures);
  if (!fit.point.order.empty())
    text += kBetween + tr("ordered by %1").arg(to_qstring(fit.point.order));
  return text + reserved_difference(fit.point.reserved_bytes);
}

// The difference in reserved memory; empty if unknown.
QString SacFigures::reserved_difference(std::optional<std::int64_t> reserved) const {
  const auto& ordered = session_.ordered().figures();
  const auto now = ordered ? ordered->reserved_bytes : session_.reserved().bytes();
  if (!now || !reserved) return {};
  return kBetween + tr("reserved %1").arg(bytes_difference_text(*now, *reserved));
}

void SacFigures::show_compact(int lines) {
  is_compact_ = true;
  boxes_->hide();
  set_lines(lines);
}

void SacFigures::show_boxes() {
  is_compact_ = false;
  boxes_->show();
  set_lines(kLines);
}

void SacFigures::set_lines(int lines) {
  lines_ = lines;
  fit_line();
  const int top = lines < kLines ? kCompactTop : kTop;
  layout()->setContentsMargins(kMargin, top, kMargin, 0);
  show_preview();
}

// There are no previews of a plan that cannot be changed.
void SacFigures::fit_line() {
  const SacStatePtr state = session_.state();
  line_->setVisible(is_compact_ || (state && state->can_change()));
  line_->setFixedHeight(lines_ * line_->fontMetrics().lineSpacing());
}

QString SacFigures::summary() const {
  const SacStatePtr state = session_.state();
  if (!state) return {};
  QStringList parts{tr("peak %1").arg(peak_->value().text()),
                    tr("step %1").arg(step_->value().text())};
  if (session_.ordered().figures()) parts << tr("reordered %1").arg(ordered_->value().text());
  parts << tr("saved %1").arg(saved_->value().text());
  if (state->figures.offloaded_bytes > 0)
    parts << tr("offloaded %1").arg(bytes_text(state->figures.offloaded_bytes));
  parts << tr("recomputed %1").arg(recomputed_->value().text())
        << tr("exposed %1").arg(exposed_->value().text());
  if (!reserved_->isHidden()) parts << tr("reserved %1").arg(reserved_->value().text());
  const auto fits = [&](const QString& text) {
    const QRect room(0, 0, line_->width(), line_->height());
    return line_->fontMetrics().boundingRect(room, Qt::TextWordWrap, text).height() <=
           room.height();
  };
  // Use non-breaking spaces within numbers, so that lines break only between numbers.
  for (QString& part : parts) part.replace(u' ', QChar(QChar::Nbsp));
  QString text = parts.join(kBetween);
  for (; parts.size() > 1 && !fits(text); text = parts.join(kBetween)) parts.removeLast();
  return text;
}

void SacFigures::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  if (is_compact_) show_preview();
}

QString SacFigures::tensors_of(const SacSession::Preview& preview) const {
  if (preview.nodes.size() != 1) return tr("%1 tensors").arg(count_text(preview.nodes.size()));
  return to_qstring(session_.state()->snapshot->graph.name(preview.nodes.front()));
}

}  // namespace jointer::views
