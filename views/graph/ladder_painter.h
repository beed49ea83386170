#pragma once

#include <QPainter>
#include <QPainterPath>

#include "views/graph/ladder_colors.h"
#include "views/graph/ladder_marks.h"
#include "views/graph/ladder_view.h"
#include "views/session/kernels/snapshot_kernels.h"

namespace jointer::views {

// Everything that a picture of the ladder shows. Holds references, so it is valid only until the
// ladder changes.
struct LadderScene {
  const Snapshot& snapshot;
  const Ladder& ladder;
  const LadderLayout& layout;
  const LadderColors& colors;
  const Theme& theme;
  const LadderMarks& marks;
  LadderView view;
  std::optional<std::size_t> hovered_link;
  const SnapshotKernels* kernels = nullptr;  // whose nodes are outlined; null for none
  QString kernel_source = {};                // of these kernels, for the legend
};

// Paints the visible part, on screen or into a file. The number of pixels limits the cost: rows
// less than 3 px high are merged into bars, node boxes less than 3 px high into areas, and rungs
// that share pixels into lines.
class LadderPainter {
 public:
  LadderPainter(QPainter& painter, const LadderScene& scene);
  void paint();

 private:
  [[nodiscard]] QRectF rect(const LadderRect& r) const;
  [[nodiscard]] QPointF point(LayoutPoint p) const;
  struct Face {
    QFont font;
    QFontMetricsF metrics;
  };
  [[nodiscard]] Face face(double pixels, bool bold = false) const;
  [[nodiscard]] bool has_text() const { return scene_.view.scale >= kMinTextScale; }

  void paint_guides();
  void paint_links();
  void paint_link(const LadderLink& link, bool is_marked);
  [[nodiscard]] QPainterPath link_path(const LadderLink& link, double shift) const;
  void paint_port_labels();
  void paint_rows();
  void paint_band(const LadderBand& band, LadderSide side);
  void paint_box(const LadderItem& item, LadderSide side);
  void paint_box_text(const LadderItem& item, LadderSide side, const QRectF& box,
                      const QColor& fill);
  // `text` is the color of the box's text.
  double paint_chips(const LadderRow& row, LadderSide side, const QRectF& room, const QColor& text);
  void paint_hit(const QRectF& box, LadderSide side);
  void paint_frame(const QRectF& box, bool is_marked, bool is_current);
  void paint_toggle(const LadderItem& item, LadderSide side, const QRectF& box,
                    const QColor& color);
  void paint_panel(const LadderItem& item, LadderSide side);
  void paint_routes(const LadderItem& item, LadderSide side);
  [[nodiscard]] QPainterPath route_path(const LadderItem& item, LadderSide side,
                                        const Layout::Route& route) const;
  // True if any part of the range from `top` to `bottom`, or of the box, is on screen.
  [[nodiscard]] bool is_visible(double top, double bottom) const {
    return bottom >= scene_.view.top() && top <= scene_.view.bottom();
  }
  [[nodiscard]] bool is_visible(const LadderRect& box) const;
  void paint_kernels(const LadderItem& item, LadderSide side);
  void paint_kernel_shapes(const LadderItem& item, LadderSide side, double reach, bool is_border);
  [[nodiscard]] QColor kernel_shade(std::int32_t kernel, bool is_border) const;
  void paint_node(const LadderItem& item, LadderSide side, std::size_t node);
  void paint_flows();

  static constexpr double kMinTextScale = 0.55;

  QPainter& painter_;
  const LadderScene& scene_;
  Face plain_, bold_, small_;
  std::vector<LadderBand> bands_;
};

// For example, "192 MiB S" or "64.0 MiB S + 128 MiB R".
QString rung_text(const BytesByState& saved, std::int64_t recomputed_bytes);
// Totals in words, the full text first, then shorter ones: "saved 19.6 GiB, recomputed 4.50 GiB",
// "saved 19.6 GiB".
QStringList channel_texts(const BytesByState& saved, std::int64_t recomputed_bytes);
// "layers.0..31"
QString row_name(const LadderRow& row);
// The row of the kernel that is outlined at a node, or -1. Only kernels that launch work and in
// which several nodes run are outlined.
std::int32_t outlined_kernel(const SnapshotKernels& kernels, NodeId node);

}  // namespace jointer::views
