#include "views/timeline/timeline_bar.h"

#include <QHBoxLayout>

namespace jointer::views {
namespace {

constexpr double kZoomStep = 1.6;

}  // namespace

TimelineBar::TimelineBar(TimelineView& timeline, QWidget* parent)
    : QWidget(parent), timeline_(timeline) {
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(12, 2, 12, 2);
  row->setSpacing(4);
  auto* title = new QLabel(tr("Timeline"), this);
  QFont bold = title->font();
  bold.setBold(true);
  title->setFont(bold);
  row->addWidget(title);
  row->addSpacing(10);
  program_order_ = add_axis(tr("program order"), AxisKind::program_order,
                            tr("One step wide for every node (G)"));
  estimated_time_ =
      add_axis(tr("estimated time"), AxisKind::estimated_time, tr("As the simulation runs it (G)"));
  row->addSpacing(14);
  auto* reserved =
      add_button(tr("reserved"), tr("The curve of what the caching allocator would take"));
  reserved->setCheckable(true);
  reserved->setChecked(true);
  reserved->setVisible(timeline_.has_reserved());
  connect(reserved, &QToolButton::toggled, &timeline_, &TimelineView::set_show_reserved);
  row->addStretch(1);
  range_ = new QLabel(this);
  range_->setForegroundRole(QPalette::PlaceholderText);
  row->addWidget(range_);
  row->addSpacing(10);
  connect(add_button(QStringLiteral("\u2212"), tr("Zoom out (S)")), &QToolButton::clicked,
          &timeline_, [this] { timeline_.zoom(1 / kZoomStep); });
  connect(add_button(QStringLiteral("+"), tr("Zoom in (W)")), &QToolButton::clicked, &timeline_,
          [this] { timeline_.zoom(kZoomStep); });
  connect(add_button(tr("peak"), tr("To the peak (P)")), &QToolButton::clicked, &timeline_,
          &TimelineView::show_peak);
  connect(add_button(tr("fit"), tr("The whole step (F)")), &QToolButton::clicked, &timeline_,
          &TimelineView::fit);
  connect(&timeline_, &TimelineView::axis_kind_changed, this, &TimelineBar::show_axis);
  connect(&timeline_, &TimelineView::range_changed, range_,
          [this] { range_->setText(timeline_.range_text()); });
  show_axis(timeline_.axis_kind());
  range_->setText(timeline_.range_text());
}

QToolButton* TimelineBar::add_button(const QString& text, const QString& tip) {
  auto* button = new QToolButton(this);
  button->setText(text);
  button->setToolTip(tip);
  button->setAutoRaise(true);
  button->setMinimumSize(24, 22);
  button->setFocusPolicy(Qt::NoFocus);
  static_cast<QHBoxLayout*>(layout())->addWidget(button);
  return button;
}

QToolButton* TimelineBar::add_axis(const QString& text, AxisKind kind, const QString& tip) {
  QToolButton* button = add_button(text, tip);
  button->setCheckable(true);
  button->setAutoExclusive(true);
  connect(button, &QToolButton::clicked, &timeline_,
          [this, kind] { timeline_.set_axis_kind(kind); });
  return button;
}

void TimelineBar::show_axis(AxisKind kind) {
  (kind == AxisKind::program_order ? program_order_ : estimated_time_)->setChecked(true);
}

}  // namespace jointer::views
