// The SAC pane's plan over TimelineView's memory curve: the memory of the partitioned graph, or of
// the step with its tags applied, and of a previewed change.

#include <QPainter>
#include <algorithm>
#include <cmath>

#include "views/session/sac/sac_session.h"
#include "views/session/text/number_text.h"
#include "views/theme/fonts.h"
#include "views/timeline/memory_track.h"
#include "views/timeline/timeline_view.h"

namespace jointer::views {
namespace {

constexpr int kMark = 4, kReach = 10, kLabelGap = 8;

}  // namespace

// A plan is placed over the steps of the graph that it partitions; it cannot be shown for another
// order.
bool TimelineView::has_place_for(const SacStatePtr& state) const {
  if (!state || !state->can_change() || state->places.size() < 2 || !show_plan_) return false;
  const auto shown_steps = shown().analysis.memory.steps();
  const auto steps = state->snapshot->analysis.memory.steps();
  return state->snapshot.get() == &shown() || std::ranges::equal(shown_steps, steps);
}

// Without tags, a training step's plan would equal the step's own curve.
PlanOutcomePtr TimelineView::plan() const {
  const SacStatePtr state = document_.sac().state();
  if (!has_place_for(state) || (state->is_step() && !state->applied_tags.any)) return nullptr;
  return state;
}

QString TimelineView::plan_name() const {
  const SacStatePtr state = document_.sac().state();
  return state && state->is_step() ? tr("with tags applied") : tr("as partitioned");
}

PlanOutcomePtr TimelineView::what_if() const {
  const auto& preview = document_.sac().shown_preview();
  const bool is_shown = preview && preview->outcome && preview->outcome->places.size() > 1 &&
                        has_place_for(document_.sac().state());
  return is_shown ? preview->outcome : nullptr;
}

bool TimelineView::has_plan() const {
  const SacStatePtr state = document_.sac().state();
  return state && state->can_change();
}

void TimelineView::set_show_plan(bool show) {
  show_plan_ = show;
  relayout();
}

// The legend may need another row.
void TimelineView::take_plan() {
  if (std::exchange(had_plan_, plan() != nullptr) != had_plan_)
    relayout();
  else
    refresh();
}

QString TimelineView::plan_peak_text() const {
  const PlanOutcomePtr now = plan(), then = what_if();
  if (!then) return tr("%1: peak %2").arg(plan_name(), bytes_text(now->figures.figures.peak_bytes));
  return tr("%1: peak %2, preview %3")
      .arg(plan_name(), bytes_text(now->figures.figures.peak_bytes),
           bytes_text(then->figures.figures.peak_bytes));
}

TimelineView::PlanPeak TimelineView::plan_peak() const {
  PlanPeak peak;
  const PlanOutcomePtr now = plan();
  if (!now) return peak;
  const PlanTrack plan(*now, data());
  const QRect& area = layout_.memory;
  const MemoryTrack track(data(), axis_, area, top_bytes(), theme());
  const std::size_t step = plan.peak_step();
  const int x = static_cast<int>(std::lround(axis_.to_pixel(plan.position(step))));
  if (x < area.left() || x > area.right()) return peak;
  peak.mark = QPoint(x, track.y_of(now->figures.figures.peak_bytes));
  // To the left of the mark, since the joint graph's peak has its label on the right.
  const QFontMetrics metrics(small_font(font()));
  const int width = metrics.horizontalAdvance(plan_peak_text()) + 10;
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

bool TimelineView::is_at_plan_peak(QPoint at) const {
  const PlanPeak peak = plan_peak();
  return peak.mark && ((at - *peak.mark).manhattanLength() <= kReach || peak.label.contains(at));
}

std::optional<QPoint> TimelineView::plan_peak_place() const {
  return plan_peak().mark;
}

// Painted over the cached frame, since a preview changes with every pointer motion.
void TimelineView::paint_plan(QPainter& painter) const {
  const PlanOutcomePtr now = plan(), then = what_if();
  if (!now && !then) return;
  painter.save();
  painter.setFont(small_font(font()));
  painter.setClipRect(layout_.memory);
  const MemoryTrack track(data(), axis_, layout_.memory, top_bytes(), theme());
  if (now) track.paint_plan(painter, PlanTrack(*now, data()), /*dashed=*/false);
  if (then) track.paint_plan(painter, PlanTrack(*then, data()), /*dashed=*/true);
  if (const PlanPeak peak = plan_peak(); peak.mark) paint_plan_peak(painter, peak);
  painter.restore();
}

void TimelineView::paint_plan_peak(QPainter& painter, const PlanPeak& peak) const {
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(theme().surface, 1));
  painter.setBrush(theme().accent);
  painter.drawEllipse(*peak.mark, kMark, kMark);
  painter.setRenderHint(QPainter::Antialiasing, false);
  QColor behind = theme().surface;
  behind.setAlphaF(0.9F);
  painter.fillRect(peak.label, behind);
  painter.setPen(theme().accent);
  painter.drawText(peak.label, Qt::AlignCenter, plan_peak_text());
}

QStringList TimelineView::plan_lines(int x) const {
  QStringList lines;
  const double begin = axis_.to_position(x), end = axis_.to_position(x + 1);
  const auto add = [&](const PlanOutcomePtr& outcome, const QString& text) {
    if (!outcome) return;
    const PlanTrack track(*outcome, data());
    lines << text.arg(bytes_text(track.bytes(track.largest_step(begin, end))));
  };
  add(plan(), plan_name() + QStringLiteral(" %1"));
  add(what_if(), tr("preview %1"));
  return lines;
}

}  // namespace jointer::views
