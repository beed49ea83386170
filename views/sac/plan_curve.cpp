#include "views/sac/plan_curve.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "views/session/text/number_text.h"
#include "views/theme/fonts.h"
#include "views/theme/spacing.h"
#include "views/theme/theme.h"
#include "views/widgets/profile_columns.h"

namespace jointer::views {
namespace {

constexpr int kHeight = 72, kLegend = 18, kReach = 14, kMark = 4;
constexpr int kDash = 6, kPeriod = 10;

std::int64_t max_of(std::span<const std::int64_t> profile) {
  return profile.empty() ? 0 : *std::max_element(profile.begin(), profile.end());
}

}  // namespace

PlanCurve::PlanCurve(QWidget* parent) : QWidget(parent) {
  setMinimumHeight(kHeight);
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName(tr("Memory of the plan"));
}

QSize PlanCurve::sizeHint() const {
  return {240, kHeight};
}

void PlanCurve::set_state(SacStatePtr state) {
  state_ = std::move(state);
  if (state_) {
    top_ = std::max<std::int64_t>(max_of(state_->profile), 1);
    if (const PlanOutcome* reference = state_->reference())
      top_ = std::max(
          {top_, max_of(reference->profile), state_->snapshot->analysis.memory.peak_bytes()});
    const auto peak = std::max_element(state_->profile.begin(), state_->profile.end());
    peak_ = static_cast<std::size_t>(peak - state_->profile.begin());
  }
  update();
}

void PlanCurve::set_what_if(PlanOutcomePtr outcome, const QString& name) {
  what_if_ = std::move(outcome);
  what_if_name_ = name;
  update();
}

QRect PlanCurve::area() const {
  return {kMargin, kLegend, std::max(width() - 2 * kMargin, 1), height() - kLegend - 2};
}

int PlanCurve::y_of(std::int64_t bytes) const {
  const QRect rect = area();
  return rect.bottom() + 1 -
         static_cast<int>(std::lround(static_cast<double>(bytes) / static_cast<double>(top_) *
                                      (rect.height() - 6)));
}

QPoint PlanCurve::peak_place() const {
  if (!state_ || state_->profile.empty()) return {};
  const QRect rect = area();
  const double share = static_cast<double>(peak_) / static_cast<double>(state_->profile.size());
  return {rect.left() + static_cast<int>(share * rect.width()), y_of(state_->profile[peak_])};
}

std::size_t PlanCurve::point_at(int x) const {
  const QRect rect = area();
  const double share = std::clamp(static_cast<double>(x - rect.left()) / rect.width(), 0.0, 1.0);
  const auto count = state_->profile.size();
  return std::min(static_cast<std::size_t>(share * static_cast<double>(count)), count - 1);
}

bool PlanCurve::is_at_peak(QPoint at) const {
  return state_ && !state_->profile.empty() && state_->can_change() &&
         (at - peak_place()).manhattanLength() <= kReach;
}

void PlanCurve::paint_outline(QPainter& painter, std::span<const std::int64_t> profile,
                              const QColor& color, bool dashed) const {
  if (profile.empty()) return;
  const QRect rect = area();
  const auto columns = max_by_column(profile, static_cast<std::size_t>(rect.width()));
  int last = y_of(columns.front());
  for (int x = 0; x < rect.width(); ++x) {
    const int y = y_of(columns[static_cast<std::size_t>(x)]);
    if (!dashed || x % kPeriod < kDash)
      painter.fillRect(
          QRect(rect.left() + x, std::min(y, last), 1, std::max(std::abs(y - last), 2)), color);
    last = y;
  }
}

void PlanCurve::paint_legend(QPainter& painter) const {
  const Theme& theme = Theme::of(palette());
  int x = kMargin;
  const auto entry = [&](const QColor& color, const QString& text) {
    painter.fillRect(QRect(x, 6, 10, 8), color);
    painter.setPen(theme.text);
    const int wide = painter.fontMetrics().horizontalAdvance(text);
    painter.drawText(QRect(x + 15, 0, wide + 2, kLegend), Qt::AlignLeft | Qt::AlignVCenter, text);
    x += wide + 30;
  };
  if (!state_->can_change()) {
    entry(theme.half(theme.accent), tr("as captured"));
  } else if (state_->is_step()) {
    entry(theme.half(theme.accent),
          state_->applied_tags.any ? tr("with tags applied") : tr("without tags"));
    if (state_->applied_tags.any) entry(theme.ghost, tr("without tags"));
    if (what_if_) entry(theme.accent, what_if_name_);
  } else {
    entry(theme.half(theme.accent), tr("as partitioned"));
    if (state_->profile != state_->base->profile) entry(theme.text, tr("as solved"));
    entry(theme.ghost, tr("joint graph (saves everything)"));
    if (what_if_) entry(theme.accent, what_if_name_);
  }
  const QString peak = tr("peak %1").arg(bytes_text(state_->profile[peak_]));
  const QRect right(x, 0, width() - kMargin - x, kLegend);
  painter.setPen(theme.muted_text);
  if (painter.fontMetrics().horizontalAdvance(peak) <= right.width())
    painter.drawText(right, Qt::AlignRight | Qt::AlignVCenter, peak);
}

void PlanCurve::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  const Theme& theme = Theme::of(palette());
  painter.fillRect(rect(), theme.surface);
  if (!state_ || state_->profile.empty()) return;
  painter.setFont(small_font(font()));
  const QRect rect = area();
  painter.fillRect(rect, theme.bed);
  const auto columns = max_by_column(state_->profile, static_cast<std::size_t>(rect.width()));
  const QColor fill = theme.half(theme.accent);
  for (int x = 0; x < rect.width(); ++x) {
    const int y = y_of(columns[static_cast<std::size_t>(x)]);
    painter.fillRect(QRect(rect.left() + x, y, 1, rect.bottom() + 1 - y), fill);
  }
  if (state_->can_change()) {
    paint_outline(painter, state_->snapshot->analysis.memory.profile(), theme.ghost);
    if (state_->base && state_->profile != state_->base->profile)
      paint_outline(painter, state_->base->profile, theme.text);
    if (what_if_) paint_outline(painter, what_if_->profile, theme.accent, /*dashed=*/true);
  }
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(Qt::NoPen);
  painter.setBrush(theme.warning);
  painter.drawEllipse(peak_place(), kMark, kMark);
  painter.setRenderHint(QPainter::Antialiasing, false);
  if (hasFocus()) {
    painter.setPen(theme.accent);
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(rect.adjusted(0, 0, -1, -1));
  }
  if (hover_) {
    painter.setPen(theme.muted_text);
    painter.drawLine(hover_->x(), rect.top(), hover_->x(), rect.bottom());
  }
  paint_legend(painter);
}

void PlanCurve::mousePressEvent(QMouseEvent* event) {
  if (event->button() == Qt::LeftButton && is_at_peak(event->position().toPoint()))
    emit peak_clicked();
}

void PlanCurve::keyPressEvent(QKeyEvent* event) {
  if (state_ && state_->can_change() &&
      (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter))
    emit peak_clicked();
  else
    QWidget::keyPressEvent(event);
}

void PlanCurve::mouseMoveEvent(QMouseEvent* event) {
  if (!state_ || state_->profile.empty()) return;
  hover_ = event->position().toPoint();
  setCursor(is_at_peak(*hover_) ? Qt::PointingHandCursor : Qt::ArrowCursor);
  const std::size_t point = point_at(hover_->x());
  const auto count = static_cast<double>(state_->profile.size());
  QString text = is_at_peak(*hover_)
                     ? tr("Peak %1: click to see what contributes to it")
                           .arg(bytes_text(state_->profile[peak_]))
                     : tr("%1, %2% of the way through the step")
                           .arg(bytes_text(state_->profile[point]))
                           .arg(std::lround(100 * static_cast<double>(point) / count));
  QToolTip::showText(event->globalPosition().toPoint(), text, this);
  update();
}

void PlanCurve::leaveEvent(QEvent* /*event*/) {
  hover_.reset();
  update();
}

}  // namespace jointer::views
