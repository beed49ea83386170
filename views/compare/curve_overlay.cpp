#include "views/compare/curve_overlay.h"

#include <QPainter>
#include <algorithm>
#include <cmath>

#include "views/session/text/number_text.h"
#include "views/theme/fonts.h"
#include "views/theme/spacing.h"
#include "views/theme/theme.h"
#include "views/widgets/draw_list.h"

namespace jointer::views {
namespace {

constexpr int kHeight = 76, kLegend = 18, kMinArea = 12;

// The maximum of the memory curve in each pixel column.
std::vector<std::int64_t> columns_of(const Snapshot& snapshot, int width) {
  AxisView axis(snapshot.program_order.length());
  axis.set_pixels(0, width);
  std::vector<std::int64_t> bytes(static_cast<std::size_t>(width), 0);
  const auto profile = snapshot.analysis.memory.profile();
  for (const MemoryRun& run : memory_columns(snapshot.program_order, axis))
    for (int x = std::max(run.left, 0); x < std::min(run.right, width); ++x)
      bytes[static_cast<std::size_t>(x)] = profile[run.point];
  return bytes;
}

}  // namespace

CurveOverlay::CurveOverlay(QWidget* parent) : QWidget(parent) {
  setMaximumHeight(kHeight);
  setAccessibleName(tr("Memory curves of both states"));
}

QSize CurveOverlay::sizeHint() const {
  return {0, kHeight};
}

void CurveOverlay::set(std::shared_ptr<const Comparison> comparison) {
  comparison_ = std::move(comparison);
  update();
}

void CurveOverlay::paintEvent(QPaintEvent* /*event*/) {
  if (!comparison_) return;
  QPainter painter(this);
  const Theme& theme = Theme::of(palette());
  const QRect area(kMargin, kLegend, width() - 2 * kMargin, height() - kLegend);
  if (area.width() < 2 || area.height() < kMinArea) return;
  painter.fillRect(area, theme.bed);
  const auto from = columns_of(*comparison_->from.snapshot, area.width());
  const auto to = columns_of(*comparison_->to.snapshot, area.width());
  const std::int64_t top = std::max<std::int64_t>(
      {*std::max_element(from.begin(), from.end()), *std::max_element(to.begin(), to.end()), 1});
  const auto y_of = [&](std::int64_t bytes) {
    return area.bottom() + 1 -
           static_cast<int>(std::lround(static_cast<double>(bytes) / static_cast<double>(top) *
                                        (area.height() - 4)));
  };
  const QColor fill = with_alpha(theme.accent, 0.35F);
  int last = y_of(from.front());
  for (int x = 0; x < area.width(); ++x) {
    const int a = y_of(from[static_cast<std::size_t>(x)]);
    const int b = y_of(to[static_cast<std::size_t>(x)]);
    const int left = area.left() + x;
    painter.fillRect(QRect(left, b, 1, area.bottom() + 1 - b), fill);
    if (b < a) painter.fillRect(QRect(left, b, 1, a - b), theme.warning);
    painter.fillRect(QRect(left, std::min(a, last), 1, std::max(std::abs(a - last), 2)),
                     theme.text);
    last = a;
  }
  const auto label = [&](int x, const QColor& color, const QString& text) {
    painter.fillRect(QRect(x, 5, 10, 10), color);
    painter.setPen(theme.text);
    painter.drawText(QRect(x + 15, 0, width() - x - 15, kLegend), Qt::AlignLeft | Qt::AlignVCenter,
                     text);
    return x + 15 + painter.fontMetrics().horizontalAdvance(text) + 16;
  };
  painter.setFont(small_font(font()));
  int x = label(kMargin, theme.text, comparison_->from.name);
  x = label(x, theme.half(theme.accent), comparison_->to.name);
  x = label(x, theme.warning, tr("increase"));
  painter.setPen(theme.muted_text);
  const QRect rest(x, 0, width() - kMargin - x, kLegend);
  // The longest text that fits.
  for (const QString& text : {tr("program order, maximum %1").arg(bytes_text(top)),
                              tr("maximum %1").arg(bytes_text(top))})
    if (painter.fontMetrics().horizontalAdvance(text) <= rest.width())
      return painter.drawText(rest, Qt::AlignRight | Qt::AlignVCenter, text);
}

}  // namespace jointer::views
