#include "views/timeline/plan_overlay.h"

#include <QPainter>
#include <algorithm>
#include <cmath>

#include "views/session/text/number_text.h"
#include "views/theme/fonts.h"
#include "views/timeline/plan_track.h"

namespace jointer::views {
namespace {

constexpr int kMark = 4, kReach = 10, kLabelGap = 8;

}  // namespace

QString PlanOverlay::peak_text() const {
  const PlanOutcomePtr now = scene_.content.plan(), then = scene_.content.what_if();
  if (!then)
    return tr("%1: peak %2")
        .arg(scene_.content.plan_name(), bytes_text(now->figures.figures.peak_bytes));
  return tr("%1: peak %2, preview %3")
      .arg(scene_.content.plan_name(), bytes_text(now->figures.figures.peak_bytes),
           bytes_text(then->figures.figures.peak_bytes));
}

PlanOverlay::Place PlanOverlay::place_of_peak() const {
  Place peak;
  const PlanOutcomePtr now = scene_.content.plan();
  if (!now) return peak;
  const PlanTrack plan(*now, scene_.content.data());
  const QRect& area = scene_.layout.memory;
  const MemoryTrack track = scene_.memory_track();
  const std::size_t step = plan.peak_step();
  const int x = static_cast<int>(std::lround(scene_.axis.to_pixel(plan.position(step))));
  if (x < area.left() || x > area.right()) return peak;
  peak.mark = QPoint(x, track.y_of(now->figures.figures.peak_bytes));
  // To the left of the mark, since the joint graph's peak has its label on the right.
  const QFontMetrics metrics(small_font(scene_.font));
  const int width = metrics.horizontalAdvance(peak_text()) + 10;
  const int height = metrics.height() + 4;
  peak.label = {x - kLabelGap - width,
                std::clamp(peak.mark->y() - height / 2, area.top() + 2, area.bottom() - height),
                width, height};
  if (peak.label.left() < area.left()) {
    peak.label.moveLeft(x + kLabelGap);
    // Below the other label if both are at the same height.
    peak.label.moveTop(
        std::min(std::max(peak.mark->y() + 4, area.top() + 24), area.bottom() - height));
  }
  return peak;
}

bool PlanOverlay::is_at_peak(QPoint at) const {
  const Place peak = place_of_peak();
  return peak.mark && ((at - *peak.mark).manhattanLength() <= kReach || peak.label.contains(at));
}

// Painted over the cached frame, since a preview changes with every pointer motion.
void PlanOverlay::paint(QPainter& painter) const {
  const PlanOutcomePtr now = scene_.content.plan(), then = scene_.content.what_if();
  if (!now && !then) return;
  painter.save();
  painter.setFont(small_font(scene_.font));
  painter.setClipRect(scene_.layout.memory);
  const MemoryTrack track = scene_.memory_track();
  if (now) track.paint_plan(painter, PlanTrack(*now, scene_.content.data()), /*dashed=*/false);
  if (then) track.paint_plan(painter, PlanTrack(*then, scene_.content.data()), /*dashed=*/true);
  if (const Place peak = place_of_peak(); peak.mark) paint_peak(painter, peak);
  painter.restore();
}

void PlanOverlay::paint_peak(QPainter& painter, const Place& peak) const {
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(scene_.theme.surface, 1));
  painter.setBrush(scene_.theme.accent);
  painter.drawEllipse(*peak.mark, kMark, kMark);
  painter.setRenderHint(QPainter::Antialiasing, false);
  QColor behind = scene_.theme.surface;
  behind.setAlphaF(0.9F);
  painter.fillRect(peak.label, behind);
  painter.setPen(scene_.theme.accent);
  painter.drawText(peak.label, Qt::AlignCenter, peak_text());
}

QStringList PlanOverlay::lines(int x) const {
  QStringList lines;
  const double begin = scene_.axis.to_position(x), end = scene_.axis.to_position(x + 1);
  const auto add = [&](const PlanOutcomePtr& outcome, const QString& text) {
    if (!outcome) return;
    const PlanTrack track(*outcome, scene_.content.data());
    lines << text.arg(bytes_text(track.bytes(track.largest_step(begin, end))));
  };
  add(scene_.content.plan(), scene_.content.plan_name() + QStringLiteral(" %1"));
  add(scene_.content.what_if(), tr("preview %1"));
  return lines;
}

}  // namespace jointer::views
