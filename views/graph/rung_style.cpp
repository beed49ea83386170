#include "views/graph/rung_style.h"

#include <algorithm>

namespace jointer::views {
namespace {

constexpr double kDash = 4, kGap = 0.6, kMinRails = 4, kMaxRail = 3, kTie = 1.5, kBetweenTies = 5;

// Lengths are in pixels; QPen's dash pattern is in units of the pen's width.
void set_dashes(QPen& pen, double dash, double gap) {
  pen.setDashPattern({dash / pen.widthF(), gap / pen.widthF()});
}

}  // namespace

void draw_rung(QPainter& painter, const QPainterPath& path, const RungStyle& style) {
  QPen pen(style.color, style.width);
  pen.setCapStyle(Qt::FlatCap);
  const bool is_offloaded = style.is_saved && style.state == RungState::offload;
  const double dash = std::max(kDash * style.scale, 2.0);
  if (is_offloaded && style.width < kMinRails)
    set_dashes(pen, std::max(dash / 3, 1.0), std::max(dash / 2, 1.5));
  else if (!style.is_saved || style.state == RungState::recompute)
    set_dashes(pen, dash, dash * kGap);
  painter.setPen(pen);
  painter.drawPath(path);
  if (!is_offloaded || style.width < kMinRails) return;
  const double rail = std::clamp(style.width / 5, 1.0, kMaxRail);
  QPen inside(style.inside, style.width - 2 * rail);
  inside.setCapStyle(Qt::FlatCap);
  set_dashes(inside, std::max(kBetweenTies * style.scale, 3.0), kTie);
  painter.setPen(inside);
  painter.drawPath(path);
}

}  // namespace jointer::views
