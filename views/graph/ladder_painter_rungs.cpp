// The part of LadderPainter that paints the rungs, and the lines to inputs and users of the current
// node.

#include <QPainterPath>
#include <algorithm>
#include <cmath>
#include <set>

#include "views/graph/ladder_painter.h"
#include "views/graph/rung_style.h"
#include "views/session/text/number_text.h"
#include "views/session/translation/tr.h"

namespace jointer::views {

QString rung_text(const BytesByState& saved, std::int64_t recomputed_bytes) {
  QStringList parts;
  for (std::size_t s = 0; s < kRungStates; ++s) {
    std::int64_t bytes = saved[s];
    if (static_cast<RungState>(s) == RungState::recompute) bytes += recomputed_bytes;
    if (bytes > 0) parts << bytes_text(bytes) + ' ' + rung_letter(static_cast<RungState>(s));
  }
  return parts.join(QStringLiteral(" + "));
}

QStringList channel_texts(const BytesByState& saved, std::int64_t recomputed_bytes) {
  const auto of = [&](RungState state) { return saved[static_cast<std::size_t>(state)]; };
  QStringList parts;
  const auto add = [&](const QString& text, std::int64_t bytes) {
    if (bytes > 0) parts << text.arg(bytes_text(bytes));
  };
  add(tr("saved %1"), of(RungState::save) + of(RungState::automatic));
  add(tr("recomputed %1"), of(RungState::recompute) + recomputed_bytes);
  add(tr("offloaded %1"), of(RungState::offload));
  QStringList texts;
  for (; !parts.isEmpty(); parts.removeLast()) texts << parts.join(QStringLiteral(", "));
  return texts;
}

// --- Rungs ---

QPainterPath LadderPainter::link_path(const LadderLink& link, double shift) const {
  const LadderLayout& layout = scene_.layout;
  QPainterPath path;
  const auto moved = [&](LayoutPoint p) { return point(p) + QPointF(0, shift); };
  const std::vector<LayoutPoint> from = layout.line(link.from, LadderSide::forward);
  path.moveTo(moved(from.front()));
  for (std::size_t i = 1; i < from.size(); ++i) path.lineTo(moved(from[i]));
  const QPointF start = moved(from.back());
  if (link.to.item < 0) {
    path.lineTo(scene_.view.to_x(link_right(layout, link)), start.y());
    return path;
  }
  const std::vector<LayoutPoint> to = layout.line(link.to, LadderSide::backward);
  const QPointF end = moved(to.back());
  const double middle = (start.x() + end.x()) / 2;
  if (std::abs(start.y() - end.y()) < 0.5)
    path.lineTo(end);
  else
    path.cubicTo(QPointF(middle, start.y()), QPointF(middle, end.y()), end);
  for (std::size_t i = to.size() - 1; i-- > 0;) path.lineTo(moved(to[i]));
  return path;
}

void LadderPainter::paint_link(const LadderLink& link, bool is_marked) {
  const LadderLayout& layout = scene_.layout;
  const double scale = scene_.view.scale;
  const double whole = std::max(rung_thickness(link.bytes(), layout.max_bytes()) * scale, 1.0);
  // Rungs that end at a node are thin, since many share one gap.
  const bool is_thin = link.from.node >= 0 || link.to.node >= 0;
  const double thickness = is_thin ? std::clamp(whole, 1.0, 3.0 * std::max(scale, 0.5)) : whole;
  double done = 0;
  const auto paint = [&](RungState state, std::int64_t bytes, bool is_saved) {
    if (bytes <= 0) return;
    const double share = static_cast<double>(bytes) / static_cast<double>(link.bytes());
    const double part = std::max(thickness * share, 1.0);
    draw_rung(painter_, link_path(link, done + part / 2 - thickness / 2),
              {.state = state,
               .is_saved = is_saved,
               .color = is_marked ? scene_.theme.accent : rung_color(scene_.theme, state),
               .inside = scene_.theme.surface,
               .width = part + (is_marked ? 1 : 0),
               .scale = scale});
    done += part;
  };
  for (std::size_t s = 0; s < kRungStates; ++s)
    paint(static_cast<RungState>(s), link.saved[s], true);
  paint(RungState::recompute, link.recomputed_bytes, false);
}

void LadderPainter::paint_links() {
  const LadderLayout& layout = scene_.layout;
  const double top = scene_.view.top(), bottom = scene_.view.bottom();
  painter_.setRenderHint(QPainter::Antialiasing, scene_.view.scale >= 0.2);
  painter_.setBrush(Qt::NoBrush);
  // Skip a line if both of its ends are within about 2 px of those of a line that is already
  // painted.
  std::set<std::pair<long, long>> seen;
  const auto links = layout.links();
  std::vector<std::size_t> marked;
  for (std::size_t i = 0; i < links.size(); ++i) {
    const LadderLink& link = links[i];
    const LadderItem& from = layout.item(link.from.item);
    const LadderItem& to = link.to.item < 0 ? from : layout.item(link.to.item);
    if (std::max(from.bottom(layout.style()), to.bottom(layout.style())) < top ||
        std::min(from.y, to.y) > bottom)
      continue;
    const auto pixel = [&](LadderPlace place, LadderSide side) {
      if (place.item < 0) return -1L;
      return std::lround(scene_.view.to_y(layout.line(place, side).back().y) / 2);
    };
    const bool is_current =
        scene_.hovered_link == i ||
        (scene_.marks.current &&
         ((link.from == scene_.marks.current_place &&
           scene_.marks.current_side == LadderSide::forward && link.from.node >= 0) ||
          (link.to == scene_.marks.current_place &&
           scene_.marks.current_side == LadderSide::backward && link.to.node >= 0)));
    if (is_current) {
      marked.push_back(i);
      continue;
    }
    if (!seen.insert({pixel(link.from, LadderSide::forward), pixel(link.to, LadderSide::backward)})
             .second)
      continue;
    paint_link(link, false);
  }
  for (const std::size_t i : marked) paint_link(links[i], true);
  painter_.setRenderHint(QPainter::Antialiasing, false);
}

void LadderPainter::paint_port_labels() {
  if (!has_text()) return;
  const LadderLayout& layout = scene_.layout;
  painter_.setFont(small_.font);
  const QFontMetricsF& metrics = small_.metrics;
  const double s = scene_.view.scale;
  std::vector<std::pair<double, const LadderPort*>> shown;
  for (const LadderPort& port : layout.ports()) {
    const double y = scene_.view.to_y(layout.line(port.place, LadderSide::forward).back().y);
    if (y > -20 && y < scene_.view.height + 20) shown.emplace_back(y, &port);
  }
  std::ranges::sort(shown, {}, [](const auto& each) { return each.first; });
  // If two labels overlap, show the label with more bytes.
  const double height = metrics.height();
  std::vector<std::pair<double, const LadderPort*>> labels;
  for (const auto& entry : shown) {
    if (!labels.empty() && entry.first - labels.back().first < height) {
      if (entry.second->bytes() > labels.back().second->bytes() &&
          (labels.size() < 2 || entry.first - labels[labels.size() - 2].first >= height))
        labels.back() = entry;
      continue;
    }
    labels.push_back(entry);
  }
  const QColor behind = with_alpha(scene_.theme.surface, 0.9F);
  const double room = (layout.channel_right() - layout.channel_left()) * s - 16 * s;
  for (const auto& [y, port] : labels) {
    const QString text =
        metrics.elidedText(rung_text(port->saved, port->recomputed_bytes), Qt::ElideRight, room);
    const double width = metrics.horizontalAdvance(text);
    const QRectF box(scene_.view.to_x(layout.channel_left()) + 10 * s, y - height / 2,
                     width + 8 * s, height);
    painter_.fillRect(box, behind);
    painter_.setPen(scene_.theme.text);
    painter_.drawText(box, Qt::AlignCenter, text);
  }
}

// --- Inputs and users of the current node ---

// Within a group, a frame marks the other node. A connection across the channel is shown by its
// rung or, if it has none, by a frame. For all others, a line runs next to the column.
void LadderPainter::paint_flows() {
  const LadderMarks& marks = scene_.marks;
  if (!marks.current || marks.current_place.item < 0) return;
  const LadderLayout& layout = scene_.layout;
  painter_.setRenderHint(QPainter::Antialiasing);
  painter_.setBrush(Qt::NoBrush);
  const auto box_of = [&](LadderPlace place, LadderSide side) {
    const LadderItem& item = layout.item(place.item);
    return place.node < 0 ? layout.box(item, side)
                          : layout.node_box(item, side, static_cast<std::size_t>(place.node));
  };
  const LadderRect here = box_of(marks.current_place, marks.current_side);
  for (const LadderMarks::Flow& flow : marks.flows) {
    const LadderRect there = box_of(flow.place, flow.side);
    QPen pen(scene_.theme.accent, 1.6);
    if (flow.is_input) pen.setDashPattern({4, 2.5});
    painter_.setPen(pen);
    const bool inside = flow.place.item == marks.current_place.item && flow.place.node >= 0 &&
                        marks.current_place.node >= 0 && flow.side == marks.current_side;
    const bool across = flow.side != marks.current_side;
    if (inside || (across && !flow.has_rung)) {
      painter_.drawRect(rect(there).adjusted(-1.5, -1.5, 1.5, 1.5));
      continue;
    }
    if (across) continue;
    const bool is_forward = flow.side == LadderSide::forward;
    const double x =
        is_forward ? std::min(here.x, there.x) - 4 : std::max(here.right(), there.right()) + 4;
    const auto edge = [&](const LadderRect& r) {
      return QPointF(scene_.view.to_x(is_forward ? r.x : r.right()),
                     scene_.view.to_y(r.middle_y()));
    };
    const double out = scene_.view.to_x(x);
    QPainterPath path(edge(here));
    path.lineTo(out, edge(here).y());
    path.lineTo(out, edge(there).y());
    path.lineTo(edge(there));
    painter_.drawPath(path);
  }
  painter_.setRenderHint(QPainter::Antialiasing, false);
}

}  // namespace jointer::views
