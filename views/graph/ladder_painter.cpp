#include "views/graph/ladder_painter.h"

#include <QPainterPath>
#include <algorithm>
#include <cmath>

#include "views/graph/ladder_chips.h"
#include "views/session/text/node_text.h"
#include "views/session/text/number_text.h"
#include "views/session/translation/tr.h"

namespace jointer::views {
namespace {

constexpr double kTextPixels = 12, kSmallTextPixels = 11;
constexpr double kPadding = 6, kToggleRoom = 18;
constexpr double kChipGap = 4;

}  // namespace

QString row_name(const LadderRow& row) {
  QString name = to_qstring(row.name);
  if (row.members > 1) name += QStringLiteral("..%1").arg(row.number + row.members - 1);
  return name;
}

LadderPainter::LadderPainter(QPainter& painter, const LadderScene& scene)
    : painter_(painter),
      scene_(scene),
      plain_(face(kTextPixels)),
      bold_(face(kTextPixels, true)),
      small_(face(kSmallTextPixels)),
      bands_(visible_bands(scene.layout, scene.view)) {}

QRectF LadderPainter::rect(const LadderRect& r) const {
  // Round to whole pixels for sharp lines.
  const double left = std::round(scene_.view.to_x(r.x)), top = std::round(scene_.view.to_y(r.y));
  return {left, top, std::max(std::round(scene_.view.to_x(r.right())) - left, 1.0),
          std::max(std::round(scene_.view.to_y(r.bottom())) - top, 1.0)};
}

QPointF LadderPainter::point(LayoutPoint p) const {
  return {scene_.view.to_x(p.x), scene_.view.to_y(p.y)};
}

LadderPainter::Face LadderPainter::face(double pixels, bool bold) const {
  QFont f = painter_.font();
  f.setPixelSize(std::max(static_cast<int>(std::lround(pixels * scene_.view.scale)), 1));
  f.setBold(bold);
  return {f, QFontMetricsF(f)};
}

void LadderPainter::paint() {
  paint_guides();
  for (const LadderBand& band : bands_) {
    if (band.is_folded()) continue;
    const LadderItem& item = scene_.layout.item(band.first);
    if (!item.group) continue;
    for (const LadderSide side : kLadderSides)
      if (scene_.layout.has(side)) paint_panel(item, side);
  }
  paint_links();
  paint_rows();
  paint_port_labels();
  paint_flows();
}

// --- Rows ---

// Paints a vertical line next to the children of each expanded row.
void LadderPainter::paint_guides() {
  painter_.setPen(QPen(scene_.theme.border, 1));
  for (const LadderBand& band : bands_) {
    const LadderItem& item = scene_.layout.item(band.first);
    if (band.is_folded()) continue;
    // One line per ancestor of this row.
    for (const LadderSide side : kLadderSides) {
      if (!scene_.layout.has(side)) continue;
      const LadderRect box = scene_.layout.box(item, side);
      const double step = scene_.layout.style().indent;
      const int depth = scene_.ladder.row(item.row).depth;
      for (int d = 1; d <= depth; ++d) {
        const double x =
            side == LadderSide::forward ? box.x - (d - 0.5) * step : box.right() + (d - 0.5) * step;
        const double px = std::round(scene_.view.to_x(x)) + 0.5;
        painter_.drawLine(QPointF(px, scene_.view.to_y(item.y - scene_.layout.style().row_gap)),
                          QPointF(px, scene_.view.to_y(item.bottom(scene_.layout.style()))));
      }
    }
  }
}

void LadderPainter::paint_rows() {
  for (const LadderBand& band : bands_) {
    for (const LadderSide side : kLadderSides) {
      if (!scene_.layout.has(side)) continue;
      if (band.is_folded())
        paint_band(band, side);
      else
        paint_box(scene_.layout.item(band.first), side);
    }
  }
}

// Paints several rows as one bar: in the accent color if any of their nodes is selected, otherwise
// in the row color that stands out most.
void LadderPainter::paint_band(const LadderBand& band, LadderSide side) {
  QColor color = scene_.theme.bed;
  int difference = -1;
  bool is_selected = false;
  for (std::int32_t i = band.first; i < band.last; ++i) {
    const int row = scene_.layout.item(i).row;
    is_selected =
        is_selected || scene_.marks.selected[static_cast<std::size_t>(row)][index_of(side)] > 0;
    if (i - band.first > 32) continue;  // enough to choose a color
    const QColor one = scene_.colors.row(scene_.theme, scene_.ladder.row(row), side);
    const int d = std::abs(one.lightness() - scene_.theme.bed.lightness());
    if (d > difference) {
      difference = d;
      color = one;
    }
  }
  LadderRect r = scene_.layout.box(scene_.layout.item(band.first), side);
  r.y = band.y;
  r.height = band.height;
  painter_.fillRect(rect(r), is_selected ? scene_.theme.accent : color);
}

void LadderPainter::paint_box(const LadderItem& item, LadderSide side) {
  const LadderRow& row = scene_.ladder.row(item.row);
  const QRectF box = rect(scene_.layout.box(item, side));
  const bool is_empty =
      row.side(side).nodes == 0 && (side == LadderSide::backward || row.parameters == 0);
  const auto selected = scene_.marks.selected[static_cast<std::size_t>(item.row)][index_of(side)];
  if (box.height() < kFoldPixels + 1) {
    painter_.fillRect(
        box, selected > 0 ? scene_.theme.accent : scene_.colors.row(scene_.theme, row, side));
    return;
  }
  if (is_empty) {
    painter_.setPen(QPen(scene_.theme.border, 1, Qt::DotLine));
    painter_.setBrush(Qt::NoBrush);
    painter_.drawLine(QPointF(box.left(), box.center().y()),
                      QPointF(box.right(), box.center().y()));
    return;
  }
  const QColor fill = scene_.colors.row(scene_.theme, row, side);
  const bool is_current = scene_.marks.focus_row == item.row && scene_.marks.focus_side == side;
  painter_.fillRect(box, fill);
  hatch(painter_, box, scene_.colors.row_hatch(row, side), fill);
  paint_frame(box, selected > 0 || is_current, is_current);
  // The bar distinguishes a row with selected nodes from one that only has the focus.
  if (selected > 0)
    painter_.fillRect(QRectF(side == LadderSide::forward ? box.right() - 4 : box.left() + 1,
                             box.top() + 1, 3, box.height() - 2),
                      scene_.theme.accent);
  if (scene_.marks.found[static_cast<std::size_t>(item.row)][index_of(side)] > 0)
    paint_hit(box, side);
  if (has_text()) paint_box_text(item, side, box, fill);
}

// Marks a box with search matches at its outer edge.
void LadderPainter::paint_hit(const QRectF& box, LadderSide side) {
  painter_.fillRect(QRectF(side == LadderSide::forward ? box.left() + 1 : box.right() - 5,
                           box.top() + 1, 4, box.height() - 2),
                    scene_.theme.text);
}

// Paints the frame as filled strips, since an outline drawn with a pen would straddle pixel
// boundaries.
void LadderPainter::paint_frame(const QRectF& box, bool is_marked, bool is_current) {
  const double w = is_current ? 2 : 1;
  const QColor color = is_marked ? scene_.theme.accent : scene_.theme.border;
  painter_.fillRect(QRectF(box.left(), box.top(), box.width(), w), color);
  painter_.fillRect(QRectF(box.left(), box.bottom() - w, box.width(), w), color);
  painter_.fillRect(QRectF(box.left(), box.top(), w, box.height()), color);
  painter_.fillRect(QRectF(box.right() - w, box.top(), w, box.height()), color);
}

void LadderPainter::paint_toggle(const LadderItem& item, LadderSide side, const QRectF& box,
                                 const QColor& color) {
  const double s = scene_.view.scale;
  const QPointF c(side == LadderSide::forward ? box.left() + 11 * s : box.right() - 11 * s,
                  box.center().y());
  const double r = 3.5 * s;
  QPolygonF mark;
  if (item.is_open)
    mark << c + QPointF(-r, -r * 0.6) << c + QPointF(r, -r * 0.6) << c + QPointF(0, r * 0.8);
  else if (side == LadderSide::forward)
    mark << c + QPointF(-r * 0.6, -r) << c + QPointF(r * 0.8, 0) << c + QPointF(-r * 0.6, r);
  else
    mark << c + QPointF(r * 0.6, -r) << c + QPointF(-r * 0.8, 0) << c + QPointF(r * 0.6, r);
  painter_.setRenderHint(QPainter::Antialiasing);
  painter_.setPen(Qt::NoPen);
  painter_.setBrush(color);
  painter_.drawPolygon(mark);
  painter_.setRenderHint(QPainter::Antialiasing, false);
}

void LadderPainter::paint_box_text(const LadderItem& item, LadderSide side, const QRectF& box,
                                   const QColor& fill) {
  const LadderRow& row = scene_.ladder.row(item.row);
  const double s = scene_.view.scale;
  const QColor text = Theme::text_on(fill);
  const QColor quiet = with_alpha(text, 0.72F);
  paint_toggle(item, side, box, quiet);
  const bool is_forward = side == LadderSide::forward;
  QRectF room = is_forward ? box.adjusted(kToggleRoom * s + 2 * s, 0, -(kPadding + 4) * s, 0)
                           : box.adjusted((kPadding + 4) * s, 0, -(kToggleRoom + 2) * s, 0);

  const QFontMetricsF& metrics = plain_.metrics;
  const QFontMetricsF& bold_metrics = bold_.metrics;
  // The name is left-aligned and the number right-aligned; details fill the space between them.
  const QString number = scene_.colors.row_text(row, side);
  const double number_width = metrics.horizontalAdvance(number);
  const QString name = row_name(row);
  const double name_width =
      std::min(bold_metrics.horizontalAdvance(name), std::max(room.width() - 4 * s, 0.0));
  painter_.setFont(bold_.font);
  painter_.setPen(text);
  painter_.drawText(QRectF(room.left(), room.top(), name_width + 1, room.height()),
                    Qt::AlignLeft | Qt::AlignVCenter,
                    bold_metrics.elidedText(name, Qt::ElideMiddle, name_width + 1));
  room.setLeft(room.left() + name_width + 8 * s);
  painter_.setFont(plain_.font);
  if (row.members > 1) {
    const QString whole = tr("×%1 identical").arg(row.members);
    const QString brief = QStringLiteral("×%1").arg(row.members);
    const double left = room.width() - number_width - 16 * s;
    const QString& times = metrics.horizontalAdvance(whole) < left ? whole : brief;
    if (metrics.horizontalAdvance(times) < left) {
      painter_.drawText(room, Qt::AlignLeft | Qt::AlignVCenter, times);
      room.setLeft(room.left() + metrics.horizontalAdvance(times) + 8 * s);
    }
  }
  if (room.width() > number_width) {
    painter_.drawText(room, Qt::AlignRight | Qt::AlignVCenter, number);
    // Reserve the width of a typical number, so that chips line up in a column.
    room.setRight(room.right() - std::max(number_width, metrics.horizontalAdvance("999 ms ")) -
                  8 * s);
  }
  room.setRight(room.right() - paint_chips(row, side, room, text));

  QStringList details;
  if (row.kind == LadderRow::Kind::nodes && row.type == "itself") details << tr("own nodes");
  if (is_forward && row.parameters > 0)
    details << (row.parameters == 1 ? tr("1 param %1").arg(bytes_text(row.parameter_bytes))
                                    : tr("%1 params %2")
                                          .arg(count_text(row.parameters))
                                          .arg(bytes_text(row.parameter_bytes)));
  if (!is_forward && row.side(side).recomputed > 0)
    details << tr("%1 recomputed").arg(count_text(row.side(side).recomputed));
  if (row.kind != LadderRow::Kind::nodes && !row.type.empty() && is_forward)
    details << to_qstring(row.type);
  painter_.setFont(small_.font);
  const QFontMetricsF& small = small_.metrics;
  painter_.setPen(quiet);
  // Show only details that fit completely, since a truncated number would be misleading.
  QString line;
  for (const QString& detail : details) {
    const QString longer = line.isEmpty() ? detail : line + QStringLiteral("  ·  ") + detail;
    if (small.horizontalAdvance(longer) > room.width()) break;
    line = longer;
  }
  painter_.drawText(room, Qt::AlignLeft | Qt::AlignVCenter, line);
}

// Paints the exposed time and the collectives, right-aligned. Returns the width used.
double LadderPainter::paint_chips(const LadderRow& row, LadderSide side, const QRectF& room,
                                  const QColor& text) {
  const double s = scene_.view.scale;
  painter_.setFont(small_.font);
  const QFontMetricsF& metrics = small_.metrics;
  double x = room.right();
  const auto& marks = row.side(side).collectives;
  const std::int64_t exposed = row.side(side).exposed_ns;
  const bool shows_exposed = exposed > 1 && scene_.colors.by() != LadderColor::exposed;
  if (shows_exposed) {
    const QString label = tr("exposed %1").arg(time_text(exposed));
    const double width = metrics.horizontalAdvance(label);
    if (room.width() > width + 90 * s) {
      const QRectF box(x - width - 8 * s, room.center().y() - 8 * s, width + 8 * s, 16 * s);
      painter_.fillRect(box, with_alpha(scene_.theme.surface, 0.88F));
      painter_.setPen(scene_.theme.warning);
      painter_.drawText(box, Qt::AlignCenter, label);
      x = box.left() - kChipGap * s;
    }
  }
  std::vector<double> widths;
  for (const CollectiveMark& mark : marks)
    widths.push_back(metrics.horizontalAdvance(chip_text(mark)) + (8 + kChipGap) * s);
  const auto count_width = [&](std::size_t count) {
    return metrics.horizontalAdvance(chip_count(count)) + kChipGap * s;
  };
  const std::size_t shown = fitting_chips(widths, x - room.left(), count_width(marks.size()));
  const std::size_t left_out = marks.size() - shown;
  for (std::size_t i = marks.size(); i-- > left_out;) {
    const QRectF chip(x - widths[i] + kChipGap * s, room.center().y() - 8 * s,
                      widths[i] - kChipGap * s, 16 * s);
    const QColor color = scene_.theme.group(marks[i].group);
    painter_.fillRect(chip, color);
    painter_.setPen(Theme::text_on(color));
    painter_.drawText(chip, Qt::AlignCenter, chip_text(marks[i]));
    x -= widths[i];
  }
  // The hover card lists all collectives.
  if (left_out > 0 && x - count_width(left_out) >= room.left()) {
    const double left = x - count_width(left_out);
    painter_.setPen(text);
    painter_.drawText(QRectF(left, room.top(), x - left - kChipGap * s, room.height()),
                      Qt::AlignRight | Qt::AlignVCenter, chip_count(left_out));
    x = left;
  }
  return room.right() - x;
}

// --- Nodes ---

void LadderPainter::paint_panel(const LadderItem& item, LadderSide side) {
  const LadderRect& panel = item.panels[index_of(side)];
  const std::size_t nodes = item.group->sides[index_of(side)].centers.size();
  const LadderRect box = scene_.layout.box(item, side);
  const QRectF ground = rect({box.x, item.panel_y, box.width, item.panel_height});
  QColor shade = scene_.theme.bed;
  painter_.fillRect(ground, shade);
  painter_.setPen(QPen(scene_.theme.grid, 1));
  painter_.setBrush(Qt::NoBrush);
  painter_.drawRect(ground.adjusted(0.5, 0.5, -0.5, -0.5));
  if (nodes == 0) return;
  const double scale = scene_.view.scale * item.panel_scales[index_of(side)];
  if (scene_.layout.style().node.node_height * scale < kFoldPixels) {
    painter_.fillRect(rect(panel), QBrush(scene_.theme.ghost, Qt::Dense6Pattern));
    return;
  }
  paint_kernels(item, side);
  paint_routes(item, side);
}

bool LadderPainter::is_visible(const LadderRect& box) const {
  return is_visible(box.y, box.bottom()) && box.right() >= scene_.view.from_x(0) &&
         box.x <= scene_.view.from_x(scene_.view.width);
}

QPainterPath LadderPainter::route_path(const LadderItem& item, LadderSide side,
                                       const Layout::Route& route) const {
  const auto at = [&](std::size_t i) {
    return point(scene_.layout.in_panel(item, side, route.points[i]));
  };
  QPainterPath path(at(0));
  if (route.is_curve)
    for (std::size_t i = 1; i + 2 < route.points.size(); i += 3)
      path.cubicTo(at(i), at(i + 1), at(i + 2));
  else
    for (std::size_t i = 1; i < route.points.size(); ++i) path.lineTo(at(i));
  return path;
}

void LadderPainter::paint_routes(const LadderItem& item, LadderSide side) {
  const Layout& layout = item.group->sides[index_of(side)];
  const QColor quiet = scene_.theme.ghost;
  // At a small scale, there are many thin lines, for which antialiasing would not be visible.
  const bool is_small = scene_.view.scale < kMinTextScale;
  painter_.setRenderHint(QPainter::Antialiasing, !is_small);
  painter_.setBrush(Qt::NoBrush);
  painter_.setPen(QPen(quiet, is_small ? 0 : std::min(scene_.view.scale, 1.5)));
  for (const Layout::Route& route : layout.routes) {
    const LayoutPoint first = scene_.layout.in_panel(item, side, route.points.front());
    const LayoutPoint last = scene_.layout.in_panel(item, side, route.points.back());
    if (is_visible(std::min(first.y, last.y), std::max(first.y, last.y)))
      painter_.drawPath(route_path(item, side, route));
  }
  painter_.setRenderHint(QPainter::Antialiasing, false);
  for (std::size_t n = 0; n < layout.centers.size(); ++n) {
    if (is_visible(scene_.layout.node_box(item, side, n))) paint_node(item, side, n);
  }
}

void LadderPainter::paint_node(const LadderItem& item, LadderSide side, std::size_t index) {
  const NodeId id = scene_.ladder.boxes(item.row, side)[index];
  const Graph& graph = scene_.snapshot.graph;
  const Node& node = graph.node(id);
  const QRectF box = rect(scene_.layout.node_box(item, side, index));
  const double s = scene_.view.scale * item.panel_scales[index_of(side)];
  const bool is_selected = scene_.marks.contains(id);
  const bool is_current = scene_.marks.current == id;
  const QColor fill = scene_.colors.node(scene_.theme, scene_.snapshot, id);
  const QColor background = fill == scene_.theme.bed ? scene_.theme.raised : fill;
  painter_.fillRect(box, background);
  hatch(painter_, box, scene_.colors.node_hatch(node), background);
  paint_frame(box, is_selected || is_current, is_current);
  if (scene_.marks.is_hit(id)) paint_hit(box, side);
  if (node.has(Node::recomputed)) {
    painter_.fillRect(box.adjusted(1, 1, -1, -1),
                      QBrush(with_alpha(scene_.theme.ghost, 0.4F), Qt::BDiagPattern));
  }
  const bool is_collective = graph.is_collective_start(node) || graph.is_wait(node);
  if (is_collective) {
    const NodeId start = graph.is_wait(node) ? graph.collective_of_wait(node) : id;
    painter_.fillRect(QRectF(box.left() + 1, box.top() + 1, std::max(4 * s, 2.0), box.height() - 2),
                      scene_.theme.group(start ? graph.node(start).group : GroupId{}));
  }
  if (s < kMinTextScale) return;
  const QRectF room = box.adjusted(8 * s, 0, -6 * s, 0);
  const bool is_reduced = item.panel_scales[index_of(side)] < 1;
  const Face reduced = is_reduced ? face(kSmallTextPixels * s / scene_.view.scale) : small_;
  painter_.setFont(reduced.font);
  const QFontMetricsF& metrics = reduced.metrics;
  QColor text = Theme::text_on(background);
  QString number = scene_.colors.node_text(scene_.snapshot, id);
  if (const auto state = rung_state(node.policy))
    number += (number.isEmpty() ? QString() : QStringLiteral("  ")) + rung_letter(*state);
  const double number_width = number.isEmpty() ? 0 : metrics.horizontalAdvance(number) + 8 * s;
  painter_.setPen(text);
  painter_.drawText(
      room.adjusted(0, 0, -number_width, 0), Qt::AlignLeft | Qt::AlignVCenter,
      metrics.elidedText(to_qstring(graph.name(id)), Qt::ElideMiddle, room.width() - number_width));
  text.setAlphaF(0.75F);
  painter_.setPen(text);
  painter_.drawText(room, Qt::AlignRight | Qt::AlignVCenter, number);
}

}  // namespace jointer::views
