// Outlines kernels in the panels of expanded rows.
//
// A kernel's shape is a band around the boxes of its nodes and along the edges between them. Each
// shape is painted twice: first in the color of the outline, then slightly narrower in the fill
// color. If no edge connects two nodes of a kernel, or if they are in different panels, they have
// separate shapes of the same color.

#include <algorithm>

#include "core/base/index.h"
#include "views/graph/ladder_painter.h"
#include "views/session/kernels/kernel_lanes.h"

namespace jointer::views {
namespace {

constexpr double kBand = 4, kOutline = 1.5;  // around a box, at a scale of 1

}  // namespace

std::int32_t outlined_kernel(const SnapshotKernels& kernels, NodeId node) {
  const std::int32_t row = kernels.row_of(node);
  const bool is_outlined = row >= 0 && kernels.rows()[as_index(row)].launches &&
                           kernels.kernel(as_index(row)).nodes.size() > 1;
  return is_outlined ? row : -1;
}

void LadderPainter::paint_kernels(const LadderItem& item, LadderSide side) {
  if (scene_.kernels == nullptr) return;
  const double scale = scene_.view.scale * item.panel_scales[index_of(side)];
  paint_kernel_shapes(item, side, std::max((kBand + kOutline) * scale, 2.0), true);
  paint_kernel_shapes(item, side, std::max(kBand * scale, 1.0), false);
  painter_.setRenderHint(QPainter::Antialiasing, false);
}

// The colors have the same meaning as in the timeline's lanes, except that the kernel of the
// current node has the accent color.
QColor LadderPainter::kernel_shade(std::int32_t kernel, bool is_border) const {
  const bool is_current =
      scene_.marks.current && scene_.kernels->row_of(scene_.marks.current) == kernel;
  const QColor color = is_current
                           ? scene_.theme.accent
                           : scene_.theme.item(kernel_color(*scene_.kernels, as_index(kernel)));
  return is_border ? color : blended(scene_.theme.bed, color, 0.25);
}

// Paints the visible kernels, as shapes that extend `reach` pixels beyond the boxes.
void LadderPainter::paint_kernel_shapes(const LadderItem& item, LadderSide side, double reach,
                                        bool is_border) {
  const Layout& layout = item.group->sides[index_of(side)];
  const std::vector<LayoutEdge>& edges = item.group->edges[index_of(side)];
  const auto boxes = scene_.ladder.boxes(item.row, side);
  const auto kernel_at = [&](std::uint32_t node) {
    return outlined_kernel(*scene_.kernels, boxes[node]);
  };
  painter_.setRenderHint(QPainter::Antialiasing, scene_.view.scale >= kMinTextScale);
  painter_.setBrush(Qt::NoBrush);
  for (std::size_t i = 0; i < std::min(edges.size(), layout.routes.size()); ++i) {
    const std::vector<LayoutPoint>& points = layout.routes[i].points;
    const double first = scene_.layout.in_panel(item, side, points.front()).y;
    const double last = scene_.layout.in_panel(item, side, points.back()).y;
    if (!is_visible(std::min(first, last), std::max(first, last))) continue;
    const std::int32_t kernel = kernel_at(edges[i].from);
    if (kernel < 0 || kernel != kernel_at(edges[i].to)) continue;
    painter_.setPen(QPen(kernel_shade(kernel, is_border), 2 * reach, Qt::SolidLine, Qt::FlatCap));
    painter_.drawPath(route_path(item, side, layout.routes[i]));
  }
  for (std::uint32_t n = 0; n < layout.centers.size(); ++n) {
    const LadderRect box = scene_.layout.node_box(item, side, n);
    if (!is_visible(box)) continue;
    const std::int32_t kernel = kernel_at(n);
    if (kernel >= 0)
      painter_.fillRect(rect(box).adjusted(-reach, -reach, reach, reach),
                        kernel_shade(kernel, is_border));
  }
}

}  // namespace jointer::views
