#include "views/pipeline/report/step_report.h"

#include <QEvent>
#include <QMenu>
#include <QToolButton>

#include "views/pipeline/report/report_summary.h"
#include "views/session/edit/editing.h"
#include "views/session/edit/metrics.h"
#include "views/session/text/number_text.h"
#include "views/theme/fonts.h"
#include "views/theme/spacing.h"
#include "views/theme/theme.h"
#include "views/widgets/bar_button.h"
#include "views/widgets/button_text.h"
#include "views/widgets/controls.h"
#include "views/widgets/elided_label.h"

namespace jointer::views {
namespace {

constexpr int kMinWithTable = 480;
constexpr int kMaxFigures = 560;  // in pixels; wider rows are hard to read
const QString kDot = QStringLiteral(" · ");
const QString kMerged = QStringLiteral("merged");

QString link(const QString& target, const QString& text, const Theme& theme) {
  return QStringLiteral("<a href=\"%1\" style=\"color: %3; text-decoration: none\">%2</a>")
      .arg(target, text.toHtmlEscaped(), theme.accent.name());
}

QLabel* add_label(QVBoxLayout& column, QWidget* parent) {
  QLabel* label = make_text_label(parent, kMargin);
  label->setTextInteractionFlags(Qt::TextBrowserInteraction);
  column.addWidget(label);
  return label;
}

}  // namespace

// The part of a report that is prepared on a worker thread.
struct StepReport::Made {
  std::vector<ReportedStep> steps;
  NodeDifferencesPtr differences;
  QString refusal;
  DecisionList decisions;
};

StepReport::StepReport(Document& document, QWidget* parent) : QWidget(parent), document_(document) {
  setAccessibleName(tr("Step result"));
  use_base_background(*this);
  QVBoxLayout* whole = make_column(this, {});
  empty_ = make_hint(tr("Run a step to see its result."), this);
  whole->addWidget(empty_, 1);
  body_ = new QWidget(this);
  whole->addWidget(body_, 1);
  QVBoxLayout* column = make_column(body_, {0, kMargin / 2, 0, 0}, 2);
  title_ = add_label(*column, body_);
  title_->setFont(bold_font(font()));
  effort_ = add_label(*column, body_);
  effort_->setFont(small_font(font()));
  effort_->setForegroundRole(QPalette::PlaceholderText);
  counts_ = add_label(*column, body_);
  counts_->setObjectName(QStringLiteral("counts"));
  figures_ = add_label(*column, body_);
  figures_->setObjectName(QStringLiteral("figures"));
  figures_->setMaximumWidth(kMaxFigures);
  brief_ = add_control(*column, new ElidedLabel(body_), "brief");
  brief_->setContentsMargins(kMargin, 0, kMargin, 0);
  notice_ = add_label(*column, body_);
  notice_->setObjectName(QStringLiteral("notice"));
  notice_->hide();
  pages_ = new QTabWidget(body_);
  pages_->setObjectName(QStringLiteral("report_pages"));
  pages_->setDocumentMode(true);
  pages_->setUsesScrollButtons(true);
  changes_ = new DifferenceTable(document, pages_);
  decisions_ = new DecisionTable(document, pages_);
  pages_->addTab(changes_, tr("Changes"));
  pages_->addTab(decisions_, tr("Decisions"));
  column->addWidget(pages_, 1);
  make_corner();
  setFocusProxy(pages_);
  watch(*changes_, changes_->model());
  watch(*decisions_, decisions_->model());
  connect(counts_, &QLabel::linkActivated, this, &StepReport::follow_count);
  connect(notice_, &QLabel::linkActivated, this, &StepReport::follow_notice);
  connect(&document_, &Document::changed, this, [this] {
    notice_->hide();
    const NodeId node = awaited_.empty() ? NodeId() : document_.graph().find(awaited_);
    if (node) document_.selection().select(node);
    awaited_.clear();
  });
  body_->hide();
}

void StepReport::make_corner() {
  auto* bar = new QWidget(pages_);
  make_row(bar, {0, 0, kMargin, 0}, 2);
  QToolButton* rows = add_bar_button(*bar, tr("Rows") + kMenuArrow, tr("Copy or save the rows"));
  auto* menu = new QMenu(rows);
  open_menu(*rows, menu);
  menu->addAction(tr("Copy as TSV"), this, [this] {
    if (TablePane* table = current_table()) table->copy_all();
  });
  menu->addAction(tr("Save as TSV or CSV..."), this, [this] {
    if (TablePane* table = current_table()) table->save_as();
  });
  pages_->setCornerWidget(bar);
}

// If the document's graph lacks a row's node, selecting the row shows which step added or removed
// the node.
void StepReport::watch(TablePane& pane, const NamedRowsModel& model) {
  connect(&pane, &TablePane::node_activated, this, &StepReport::node_activated);
  connect(&pane.view(), &TableView::rows_chosen, this, [this, &pane, &model] {
    const std::vector<int> rows = pane.view().selected_rows();
    const bool is_gone =
        rows.size() == 1 && rows.front() < model.row_count() && model.names().is_gone(rows.front());
    show_missing_node(is_gone ? model.names().name(rows.front()) : std::string());
  });
}

void StepReport::show_steps(std::vector<ReportedStep> steps) {
  const auto make = [steps = std::move(steps)] {
    auto made = std::make_shared<Made>();
    made->steps = steps;
    if (steps.empty()) return made;
    auto differences = NodeDifferences::find(steps.front().before, steps.back().result->graph);
    if (differences)
      made->differences = std::make_shared<const NodeDifferences>(*std::move(differences));
    else
      made->refusal = to_qstring(differences.error().message);
    made->decisions = list_decisions(steps);
    return made;
  };
  making_.start(make, [this](const Result<std::shared_ptr<Made>>& made) {
    if (made) return take(**made);
    Made failed;
    failed.refusal = to_qstring(made.error().message);
    take(failed);
  });
}

void StepReport::take(Made& made) {
  steps_ = std::move(made.steps);
  differences_ = std::move(made.differences);
  refusal_ = made.refusal;
  empty_->setVisible(steps_.empty());
  body_->setVisible(!steps_.empty());
  show_missing_node({});
  changes_->set(differences_);
  changes_->say(refusal_.isEmpty() ? tr("No nodes changed.") : refusal_);
  decisions_->set(std::move(made.decisions));
  add_tables();
  const auto title = [](const QString& name, std::size_t count) {
    return count == 0 ? name : QStringLiteral("%1 (%2)").arg(name, count_text(count));
  };
  pages_->setTabText(0, title(tr("Changes"), differences_ ? differences_->nodes().size() : 0));
  pages_->setTabText(1, title(tr("Decisions"), decisions_->model().list().rows.size()));
  const bool has_changes = differences_ && !differences_->nodes().empty();
  if (!has_changes && pages_->currentWidget() == changes_) pages_->setCurrentWidget(decisions_);
  show_figures();
  emit shown();
}

void StepReport::add_tables() {
  const QString current = pages_->tabText(pages_->currentIndex());
  for (PassTablePane* table : tables_) delete table;
  tables_.clear();
  for (std::size_t step = 0; step < steps_.size(); ++step)
    for (const PassTable& each : steps_[step].result->tables) {
      const PassTableModel::TablePtr table(steps_[step].result, &each);
      auto* pane = new PassTablePane(document_, table, pages_);
      const QString title = button_text(to_qstring(each.title));
      const int index = pages_->addTab(
          pane, steps_.size() == 1 ? title : QStringLiteral("%1 · %2").arg(step + 1).arg(title));
      pages_->setTabToolTip(index, to_qstring(steps_[step].result->step));
      watch(*pane, pane->model());
      pane->addActions(decisions_->actions());
      tables_.push_back(pane);
      // Stay on the same page when another step is shown.
      if (pages_->tabText(index) == current) pages_->setCurrentIndex(index);
    }
}

void StepReport::show_figures() {
  if (steps_.empty()) return;
  const Theme& theme = Theme::of(palette());
  title_->setText(report_title(steps_).toHtmlEscaped());
  effort_->setText(report_effort(steps_));
  QStringList parts;
  if (differences_) {
    std::size_t merged = 0;
    for (const ReportedStep& step : steps_) merged += step.result->merged;
    // The table of decisions explains merged collectives only if the passes gave reasons for them.
    const auto has_rows = [this](const QString& target) {
      return target != kMerged || decisions_->has_action(kMerged.toStdString());
    };
    for (const ReportCount& count : report_counts(*differences_, merged))
      parts << (has_rows(count.link) ? link(count.link, count.text, theme)
                                     : count.text.toHtmlEscaped());
    if (parts.isEmpty()) parts << tr("The nodes and their order are the same.");
  } else {
    parts << tr("Nodes were not compared: %1").arg(refusal_.toHtmlEscaped());
  }
  counts_->setText(parts.join(kDot));
  figures_->setText(metric_table_html(report_rows(steps_), tr("before"), tr("after"), theme));
  brief_->setText(figures_difference_text(steps_.front().result->before.figures,
                                          steps_.back().result->after.figures) +
                  kDot + report_effort(steps_));
  // If the pane is small, replace the numbers with a single line to leave space for the rows.
  for (QLabel* each : {title_, effort_, counts_, figures_}) each->setVisible(!is_low_);
  brief_->setVisible(is_low_);
  changes_->set_compact(is_low_);
  decisions_->set_compact(is_low_);
  for (PassTablePane* table : tables_) table->set_compact(is_low_);
}

void StepReport::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  if (is_low_ == (height() < kMinWithTable)) return;
  is_low_ = !is_low_;
  show_figures();
}

void StepReport::follow_count(const QString& link) {
  if (link == kMerged) {
    decisions_->show_action(kMerged.toStdString());
    pages_->setCurrentWidget(decisions_);
    return;
  }
  changes_->show_only(static_cast<NodeChange>(link.toInt()));
  pages_->setCurrentWidget(changes_);
}

int StepReport::place_of(std::size_t after) const {
  const Editing& editing = document_.editing();
  const Edit& edit = steps_[after == 0 ? 0 : after - 1].result->edit;
  if (edit.changes.empty()) return -1;
  for (int i = editing.entry_count() - 1; i >= 0; --i) {
    const EditHistory& history = editing.entry(i).after;
    if (!history.empty() && history.back()->edit.changes == edit.changes)
      return after == 0 ? i : i + 1;
  }
  return -1;
}

void StepReport::show_missing_node(const std::string& name) {
  gone_ = name;
  gone_place_ = -1;
  notice_->setVisible(!name.empty() && !steps_.empty());
  if (name.empty() || steps_.empty()) return;
  // Search backward for the latest state that has the node.
  std::size_t after = steps_.size() + 1;
  while (after > 0 && !state(after - 1).find(name)) --after;
  const QString shown = to_qstring(name);
  if (after == 0) {
    notice_->setText(tr("No state of this run contains %1.").arg(shown.toHtmlEscaped()));
    return;
  }
  --after;
  gone_place_ = place_of(after);
  const bool is_removed = after < steps_.size();
  const std::optional<std::size_t> added = adding_step(name);
  const QString text_of_last = added
                                   ? tr("%1 is not in the current graph; %2 added it.")
                                   : tr("%1 is in the result of %2, but not in the current graph.");
  QString text = is_removed ? tr("%1 is not in the current graph: %2 removed it.") : text_of_last;
  const std::size_t step = is_removed ? after : added.value_or(steps_.size() - 1);
  text = text.arg(shown, to_qstring(steps_[step].result->step).section(u'{', 0, 0)).toHtmlEscaped();
  if (gone_place_ >= 0)
    text += u' ' + link(QStringLiteral("state"),
                        is_removed ? tr("Show the state before that step")
                                   : tr("Show the state after that step"),
                        Theme::of(palette()));
  notice_->setText(text);
}

// The index of the step that added a node of the last state; nullopt if all states have the node.
std::optional<std::size_t> StepReport::adding_step(const std::string& name) const {
  for (std::size_t step = steps_.size(); step-- > 0;)
    if (!state(step).find(name)) return step;
  return std::nullopt;
}

void StepReport::follow_notice() {
  if (gone_place_ < 0) return;
  awaited_ = gone_;
  document_.editing().go_to(gone_place_);
}

void StepReport::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange) show_figures();
}

}  // namespace jointer::views
