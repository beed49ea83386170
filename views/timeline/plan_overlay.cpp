#include "views/timeline/plan_overlay.h"

#include <QPainter>
#include <cmath>

#include "views/session/text/number_text.h"
#include "views/theme/fonts.h"
#include "views/timeline/plan_track.h"

namespace jointer::views {
namespace {

constexpr int kMark = 4, kReach = 10;

}  // namespace

QString PlanOverlay::peak_text() const {
  const PlanOutcomePtr now = scene_.content.plan(), then = scene_.content.what_if();
  if (!then)
    return tr("%1: peak %2")
        .arg(scene_.content.plan_name(), bytes_text(now->figures.figures.peak_bytes));
  return tr("%1: peak %2, %3 %4")
      .arg(scene_.content.plan_name(), bytes_text(now->figures.figures.peak_bytes),
           scene_.content.what_if_name(), bytes_text(then->figures.figures.peak_bytes));
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
  peak.label =
      PeakLabel::place(QFontMetrics(small_font(scene_.font)), scene_.plan_label(), x, peak_text());
  return peak;
}

bool PlanOverlay::is_at_peak(QPoint at) const {
  const Place peak = place_of_peak();
  return peak.mark &&
         ((at - *peak.mark).manhattanLength() <= kReach || peak.label.box.contains(at));
}

// This is painted over the cached frame, since a preview changes with every pointer motion.
void PlanOverlay::paint(QPainter& painter) const {
  const PlanOutcomePtr now = scene_.content.plan(), then = scene_.content.what_if();
  if (!now && !then) return;
  painter.save();
  painter.setFont(small_font(scene_.font));
  painter.setClipRect(scene_.layout.memory);
  const MemoryTrack track = scene_.memory_track();
  if (now) track.paint_plan(painter, PlanTrack(*now, scene_.content.data()), /*dashed=*/false);
  if (then) track.paint_plan(painter, PlanTrack(*then, scene_.content.data()), /*dashed=*/true);
  painter.setClipping(false);
  if (const Place peak = place_of_peak(); peak.mark) paint_peak(painter, peak);
  painter.restore();
}

void PlanOverlay::paint_peak(QPainter& painter, const Place& peak) const {
  peak.label.paint(painter, scene_.theme, scene_.theme.accent);
  // The marked point may be outside of a zoomed axis.
  if (!scene_.layout.memory.adjusted(-kMark, -kMark, kMark, kMark).contains(*peak.mark)) return;
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(scene_.theme.surface, 1));
  painter.setBrush(scene_.theme.accent);
  painter.drawEllipse(*peak.mark, kMark, kMark);
  painter.setRenderHint(QPainter::Antialiasing, false);
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
  add(scene_.content.what_if(), scene_.content.what_if_name() + QStringLiteral(" %1"));
  return lines;
}

}  // namespace jointer::views
