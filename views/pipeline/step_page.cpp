#include "views/pipeline/step_page.h"

#include <QEvent>
#include <QMenu>

#include "views/session/edit/editing.h"
#include "views/session/text/number_text.h"
#include "views/theme/spacing.h"
#include "views/theme/theme.h"
#include "views/widgets/controls.h"

namespace jointer::views {
namespace {

constexpr int kPrintedLines = 6;  // lines visible at once above a report

}  // namespace

StepPage::StepPage(PipelineSession& session, QWidget* parent) : QWidget(parent), session_(session) {
  QVBoxLayout* column = make_column(this, {kMargin, 0, kMargin, 0}, 2);
  summary_ = make_text_label(this, 0, Qt::PlainText);
  column->addWidget(summary_);
  make_ways();
  details_ = make_text_page(tr("Step output"), 0, this);
  details_->setMinimumHeight(40);
  column->addWidget(details_);
  connect(details_, &QTextBrowser::anchorClicked, this, [this] {
    const auto place = session_.draft().find(id_);
    const StepFailure* failure = place ? session_.failure(*place) : nullptr;
    if (failure == nullptr) return;
    OpenRequest reproducer{.path = failure->reproducer.toStdString()};
    reproducer.assumptions = failure->assumptions;
    emit session_.graph_made(reproducer, {});
  });
  report_ = new StepReport(session_.document(), this);
  column->addWidget(report_, 1);
  column->addStretch(0);
  connect(&session_, &PipelineSession::changed, this, &StepPage::refresh);
  refresh();
}

// A single button with a menu leaves more space for the report.
void StepPage::make_ways() {
  ways_ = new QToolButton(this);
  ways_->setText(tr("Show") + kMenuArrow);
  ways_->setToolTip(tr("Show or compare the graphs before and after this step"));
  ways_->setAutoRaise(true);
  auto* menu = new QMenu(ways_);
  menu->setToolTipsVisible(true);
  open_menu(*ways_, menu);
  const auto add = [&](const char* name, const QString& text, const QString& tip, auto slot) {
    QAction* action = menu->addAction(text, this, slot);
    action->setObjectName(QLatin1String(name));
    action->setToolTip(tip);
    return action;
  };
  before_ = add("show_before", tr("Before This Step"), tr("Show the graph before this step"),
                [this] { go_to(false); });
  after_ = add("show_after", tr("After This Step"), tr("Show the graph after this step"),
               [this] { go_to(true); });
  compare_ = add("compare", tr("Compare Before and After"), {}, [this] {
    const auto place = session_.draft().find(id_);
    const auto histories = place ? session_.histories(*place) : std::nullopt;
    if (histories) emit compare_wanted(histories->before, histories->after);
  });
  menu->addSeparator();
  open_ = add("open_graph", tr("Graph in New Tab"),
              tr("Open the graph after this step in a new tab"), [this] {
                if (const auto place = session_.draft().find(id_))
                  session_.open_graph(static_cast<int>(*place));
              });
}

void StepPage::show_step(quint64 id) {
  id_ = id;
  refresh();
}

void StepPage::go_to(bool after) {
  const auto place = session_.draft().find(id_);
  const auto histories = place ? session_.histories(*place) : std::nullopt;
  if (!histories) return;
  Editing& editing = session_.document().editing();
  if (const auto at = editing.place_of(after ? histories->after : histories->before))
    editing.go_to(*at);
}

void StepPage::refresh() {
  const auto place = session_.draft().find(id_);
  const StepOutcomePtr outcome = place ? session_.outcome(*place) : nullptr;
  const StepFailure* failure = place ? session_.failure(*place) : nullptr;
  const auto histories = place ? session_.histories(*place) : std::nullopt;
  const bool has_states = histories && histories->before != histories->after;
  ways_->setEnabled(outcome != nullptr && failure == nullptr);
  before_->setEnabled(has_states);
  after_->setEnabled(has_states);
  compare_->setEnabled(has_states);
  open_->setEnabled(place && session_.status(*place) == StepStatus::done && !session_.is_running());
  if (!place) {
    summary_->setText(tr("Select a step to see its result once it has run."));
  } else if (failure != nullptr) {
    summary_->setText(tr("The step failed and did not change the graph."));
  } else if (outcome == nullptr) {
    summary_->setText(session_.status(*place) == StepStatus::running
                          ? tr("The step is running.")
                          : tr("The step has not run yet."));
  }
  const StepOutcomePtr reported = failure == nullptr ? outcome : nullptr;
  summary_->setVisible(reported == nullptr);
  report_->setVisible(reported != nullptr);
  if (reported != reported_) {
    reported_ = reported;
    if (reported != nullptr)
      report_->show_step({reported->before, {reported, &reported->result}});
    else
      report_->clear();
  }
  // Limit the printed output to leave space for the report.
  details_->setMaximumHeight(reported == nullptr
                                 ? QWIDGETSIZE_MAX
                                 : kPrintedLines * details_->fontMetrics().lineSpacing());
  const QString html = details_html(failure == nullptr ? outcome : nullptr, failure);
  details_->setVisible(!html.isEmpty());
  if (std::exchange(shown_, html) == html) return;
  details_->setHtml(html);
}

QString StepPage::details_html(const StepOutcomePtr& outcome, const StepFailure* failure) const {
  QString html;
  const auto paragraph = [&](const QString& text) {
    html += QStringLiteral("<p>%1</p>").arg(text);
  };
  if (failure != nullptr) {
    paragraph(QStringLiteral("<span style=\"color:%1\">%2</span>")
                  .arg(Theme::of(palette()).error.name(),
                       to_qstring(failure->error.message).toHtmlEscaped()));
    if (!failure->reproducer.isEmpty())
      paragraph(QStringLiteral("%1<br><code>%2</code><br><a href=\"reproducer\">%3</a>")
                    .arg(tr("The graph, the step and the error were saved to a file:"),
                         failure->reproducer.toHtmlEscaped(), tr("Open it")));
  }
  if (outcome != nullptr && outcome->is_another_graph())
    paragraph(tr("The step created a separate graph instead of editing this graph: %1. Later steps "
                 "use the new graph; Show > Graph in New Tab opens it.")
                  .arg(to_qstring(outcome->result.edit_refusal))
                  .toHtmlEscaped());
  const QStringList printed = failure != nullptr   ? failure->printed
                              : outcome != nullptr ? outcome->printed
                                                   : QStringList();
  if (!printed.isEmpty())
    paragraph(tr("Output:") + QStringLiteral("<pre>") + printed.join(u'\n').toHtmlEscaped() +
              QStringLiteral("</pre>"));
  return html;
}

void StepPage::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange && details_ != nullptr) refresh();
}

}  // namespace jointer::views
