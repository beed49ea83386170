#include "views/timeline/timeline_bar.h"

#include <QActionGroup>
#include <QButtonGroup>
#include <QMenu>

#include "views/session/edit/editing.h"
#include "views/session/sac/sac_session.h"
#include "views/session/text/measured_text.h"
#include "views/theme/fonts.h"
#include "views/widgets/bar_button.h"
#include "views/widgets/controls.h"

namespace jointer::views {
namespace {

constexpr double kButtonZoom = 1.6;
constexpr int kMaxLabel = 260;

}  // namespace

TimelineBar::TimelineBar(TimelineView& timeline, QWidget* parent)
    : QWidget(parent), timeline_(timeline), content_(timeline.content()) {
  QHBoxLayout* row = make_row(this, {12, 2, 12, 2}, 4);
  auto* title = new QLabel(tr("Timeline"), this);
  title->setFont(bold_font(title->font()));
  row->addWidget(title);
  row->addSpacing(10);
  add_program_choice();
  program_order_ = add_axis(tr("Program Order"), AxisKind::program_order,
                            tr("Every call has the same width (G switches the axis)"));
  estimated_time_ = add_axis(tr("Estimated Time"), AxisKind::estimated_time,
                             tr("Time simulated from estimated costs (G switches the axis)"));
  measured_time_ = add_axis(tr("Measured"), AxisKind::measured_time,
                            tr("Measured node times and memory (G switches the axis)"));
  row->addSpacing(14);
  measurement_ =
      add_bar_button(*this, {}, tr("Choose a measurement to show alongside the estimates"));
  open_menu(*measurement_, new QMenu(measurement_));
  measurement_->setAccessibleName(tr("Measurement"));
  measurement_->setObjectName(QStringLiteral("measurement"));
  connect(measurement_->menu(), &QMenu::aboutToShow, this, &TimelineBar::fill_measurement_menu);
  connect(&content_.document(), &Document::measurement_changed, this,
          &TimelineBar::show_measurement);
  const auto add_toggle = [this](const QString& text, const QString& tip,
                                 void (TimelineContent::*set_shown)(bool)) {
    QToolButton* button = add_bar_button(*this, text, tip);
    button->setCheckable(true);
    button->setChecked(true);
    connect(button, &QToolButton::toggled, &content_, set_shown);
    return button;
  };
  add_toggle(tr("Reserved"), tr("Show the memory that the caching allocator would reserve"),
             &TimelineContent::set_show_reserved)
      ->setVisible(content_.has_reserved());
  ghost_ = add_toggle(tr("Baseline"),
                      tr("Show the baseline, the graph as opened, behind the edited graph"),
                      &TimelineContent::set_show_ghost);
  ghost_->setObjectName(QStringLiteral("ghost"));
  const auto show_ghost = [this] { ghost_->setVisible(content_.document().editing().is_edited()); };
  connect(&content_.document().editing(), &Editing::changed, ghost_, show_ghost);
  show_ghost();
  auto* plan = add_toggle(tr("Plan"),
                          tr("Show the memory of the SAC pane's plan (after partitioning or, for a "
                             "flat training step, with its tags applied), aligned call by call"),
                          &TimelineContent::set_show_plan);
  plan->setObjectName(QStringLiteral("plan"));
  const auto show_plan = [this, plan] { plan->setVisible(content_.has_plan()); };
  connect(&content_.document().sac(), &SacSession::changed, plan, show_plan);
  show_plan();
  row->addStretch(1);
  range_ = new QLabel(this);
  range_->setForegroundRole(QPalette::PlaceholderText);
  row->addWidget(range_);
  row->addSpacing(10);
  connect(add_bar_button(*this, QStringLiteral("\u2212"), tr("Zoom out (S)")),
          &QToolButton::clicked, &timeline_, [this] { timeline_.zoom(1 / kButtonZoom); });
  connect(add_bar_button(*this, QStringLiteral("+"), tr("Zoom in (W)")), &QToolButton::clicked,
          &timeline_, [this] { timeline_.zoom(kButtonZoom); });
  connect(add_bar_button(*this, tr("Peak"), tr("Go to the peak (P)")), &QToolButton::clicked,
          &timeline_, &TimelineView::show_peak);
  connect(add_bar_button(*this, tr("Fit"), tr("Zoom to the whole step (F)")), &QToolButton::clicked,
          &timeline_.range(), &TimelineRange::fit);
  connect(&content_, &TimelineContent::kind_changed, this, &TimelineBar::show_axis);
  const TimelineRange* range = &timeline_.range();
  connect(range, &TimelineRange::changed, range_,
          [this, range] { range_->setText(range->text()); });
  show_axis(content_.kind());
  show_measurement();
  range_->setText(range->text());
}

// Uses a separate group, so that checking one of these buttons does not uncheck those for the axis.
void TimelineBar::add_program_choice() {
  auto* choice = new QButtonGroup(this);
  const auto add = [&](const QString& text, const char* name, bool is_partitioned,
                       const QString& tip) {
    QToolButton* button = add_bar_button(*this, text, tip);
    button->setObjectName(QLatin1String(name));
    button->setCheckable(true);
    button->hide();
    choice->addButton(button);
    connect(button, &QToolButton::clicked, this,
            [this, is_partitioned] { emit partitioned_chosen(is_partitioned); });
    return button;
  };
  joint_ = add(tr("Joint Graph"), "show_joint", false,
               tr("Show the joint graph as captured and edited: forward and backward before "
                  "partitioning"));
  partitioned_ = add(tr("As Partitioned"), "show_partitioned", true,
                     tr("Show the pair that the partitioner makes from this joint graph under the "
                        "SAC pane's plan, including recomputation"));
}

void TimelineBar::offer_partitioned(bool is_partitioned) {
  joint_->show();
  partitioned_->show();
  (is_partitioned ? partitioned_ : joint_)->setChecked(true);
}

QToolButton* TimelineBar::add_axis(const QString& text, AxisKind kind, const QString& tip) {
  QToolButton* button = add_bar_button(*this, text, tip);
  button->setCheckable(true);
  button->setAutoExclusive(true);
  connect(button, &QToolButton::clicked, &content_, [this, kind] { content_.set_kind(kind); });
  return button;
}

void TimelineBar::show_axis(AxisKind kind) {
  (kind == AxisKind::program_order    ? program_order_
   : kind == AxisKind::estimated_time ? estimated_time_
                                      : measured_time_)
      ->setChecked(true);
}

void TimelineBar::show_measurement() {
  const Document& document = content_.document();
  const MeasuredTimeline* shown = document.measured();
  measured_time_->setVisible(shown != nullptr);
  measurement_->setVisible(!document.measurements().empty());
  const QString label =
      shown == nullptr ? tr("No measurement") : QString::fromStdString(shown->measurement().label);
  measurement_->setText(fontMetrics().elidedText(label, Qt::ElideMiddle, kMaxLabel) + kMenuArrow);
  QStringList tip;
  if (shown != nullptr) {
    tip << tr("Shown alongside the estimates: %1").arg(measurement_text(shown->measurement()));
    for (const std::string& note : shown->measurement().notes) tip << QString::fromStdString(note);
    if (!shown->measurement().blocks.empty())
      tip << tr("Nodes that ran in compiled packages were not timed individually.");
    else if (shown->measurement().nodes.empty())
      tip << tr("This measurement has no node times; profiled runs and profiler traces have them.");
  } else {
    tip << tr("Choose a measurement to show alongside the estimates");
  }
  measurement_->setToolTip(tip.join(u'\n'));
}

void TimelineBar::fill_measurement_menu() {
  QMenu* menu = measurement_->menu();
  menu->clear();
  qDeleteAll(menu->findChildren<QActionGroup*>());
  auto* group = new QActionGroup(menu);
  Document& document = content_.document();
  const MeasurementPtr shown =
      document.measured() == nullptr ? nullptr : document.measured()->shared_measurement();
  const auto add = [&](const QString& text, const MeasurementPtr& measurement) {
    QAction* action = group->addAction(menu->addAction(text));
    action->setCheckable(true);
    action->setChecked(measurement == shown);
    connect(action, &QAction::triggered, &timeline_,
            [&document, measurement] { document.show_measurement(measurement); });
  };
  for (const MeasurementPtr& measurement : document.measurements())
    add(measurement_text(*measurement), measurement);
  menu->addSeparator();
  add(tr("None"), nullptr);
}

}  // namespace jointer::views
