// GraphView's header, legend and minimap, its hover text, and the export of pictures.

#include <QImage>
#include <QMouseEvent>
#include <QPainter>
#include <QSvgGenerator>
#include <algorithm>
#include <cmath>

#include "views/graph/graph_view.h"
#include "views/graph/rung_style.h"
#include "views/session/text/node_text.h"
#include "views/session/text/number_text.h"
#include "views/theme/fonts.h"
#include "views/widgets/hover_card.h"

namespace jointer::views {
namespace {

constexpr int kLegendLine = 22;
constexpr int kHeader = 24, kLegend = 24;
constexpr int kSwatch = 10;
constexpr double kMaxSide = 16'000, kMaxPixels = 6.0e7;  // limits for a PNG
constexpr std::size_t kMaxNamed = 5;

}  // namespace

LadderScene GraphView::scene(const LadderView& view) const {
  return {*snapshot_, *ladder_, *layout_, *colors_, theme(), marks_, view, hovered_link_};
}

bool GraphView::viewportEvent(QEvent* event) {
  if (event->type() == QEvent::Leave) {
    hover_.reset();
    if (hovered_link_) {
      hovered_link_.reset();
      refresh();
    }
    viewport()->update();
  }
  return QAbstractScrollArea::viewportEvent(event);
}

void GraphView::changeEvent(QEvent* event) {
  if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) {
    minimap_ = {};
    refresh();
  }
  QAbstractScrollArea::changeEvent(event);
}

void GraphView::paintEvent(QPaintEvent* /*event*/) {
  const QPixmap& frame = frame_.of(*this, [this](QPainter& painter) {
    last_drawn_ = paint_picture(painter, viewport()->size(), view_);
    paint_minimap(painter);
  });
  QPainter painter(viewport());
  painter.setFont(small_font(font()));
  painter.drawPixmap(0, 0, frame);
  if (hover_ && drag_ == Drag::none)
    paint_card(painter, *hover_, viewport()->rect(), card_at(*hover_), theme());
  emit painted();
}

// Paints the header, the ladder, and the legend at the bottom.
std::size_t GraphView::paint_picture(QPainter& painter, QSize size, const LadderView& view) const {
  const Theme& t = theme();
  const QRect all(QPoint(0, 0), size);
  painter.fillRect(all, t.surface);
  painter.save();
  const QRect inner = all.adjusted(0, kHeader, 0, -kLegend);
  painter.setClipRect(inner);
  painter.translate(inner.topLeft());
  const LadderScene scene = this->scene(view);
  LadderPainter ladder(painter, scene);
  ladder.paint();
  painter.restore();
  if (ladder_->rows().empty()) {
    painter.setPen(t.muted_text);
    painter.drawText(inner, Qt::AlignCenter, tr("The graph has no nodes."));
  }
  paint_header(painter, {0, 0, size.width(), kHeader}, view);
  paint_legend(painter, {0, size.height() - kLegend, size.width(), kLegend});
  return ladder.drawn();
}

void GraphView::paint_header(QPainter& painter, const QRect& strip, const LadderView& view) const {
  const Theme& t = theme();
  painter.save();
  painter.fillRect(strip, t.window);
  painter.setFont(small_font(font()));
  painter.setPen(t.muted_text);
  LadderSums sums[2];
  BytesByState saved{};
  std::int64_t made_again = 0;
  for (const LadderRow& row : ladder_->rows()) {
    if (row.parent >= 0) continue;
    for (const LadderSide side : kLadderSides) sums[index_of(side)] += row.side(side);
    for (std::size_t s = 0; s < kRungStates; ++s) saved[s] += row.saved[s];
    made_again += row.recomputed_bytes;
  }
  const auto of_side = [&](LadderSide side, const QString& word) {
    const LadderSums& s = sums[index_of(side)];
    return tr("%1   %2 nodes, %3").arg(word, count_text(s.nodes), time_text(s.ns));
  };
  const QFontMetrics metrics = painter.fontMetrics();
  const int left = static_cast<int>(view.to_x(layout_->channel_left()));
  const int right = static_cast<int>(view.to_x(layout_->channel_right()));
  const auto draw = [&](int from, int to, Qt::Alignment alignment, const QString& text) {
    const QRect room(std::max(from, strip.left() + 8), strip.top(),
                     std::min(to, strip.right() - 8) - std::max(from, strip.left() + 8),
                     strip.height());
    if (room.width() > 40)
      painter.drawText(room, alignment | Qt::AlignVCenter,
                       metrics.elidedText(text, Qt::ElideRight, room.width()));
  };
  if (layout_->has(LadderSide::forward))
    draw(static_cast<int>(view.to_x(0)) + 8, left - 8, Qt::AlignLeft,
         of_side(LadderSide::forward, tr("↓ forward")));
  if (layout_->has(LadderSide::backward))
    draw(right + 2, static_cast<int>(view.to_x(layout_->width())) - 8, Qt::AlignRight,
         of_side(LadderSide::backward, tr("↑ backward")));
  painter.setPen(t.text);
  draw(left + 4, right - 4, Qt::AlignHCenter, channel_text(saved, made_again));
  painter.fillRect(QRect(strip.left(), strip.bottom(), strip.width(), 1), t.border);
  painter.restore();
}

void GraphView::paint_legend(QPainter& painter, const QRect& strip) const {
  const Theme& t = theme();
  painter.save();
  painter.fillRect(strip, t.window);
  painter.fillRect(QRect(strip.left(), strip.top(), strip.width(), 1), t.border);
  painter.setFont(small_font(font()));
  const QFontMetrics metrics = painter.fontMetrics();
  int x = strip.left() + 10;
  const int middle = strip.center().y() + 1;
  const auto say = [&](const QString& text, const QColor& color) {
    painter.setPen(color);
    painter.drawText(QRect(x, strip.top(), metrics.horizontalAdvance(text) + 2, strip.height()),
                     Qt::AlignLeft | Qt::AlignVCenter, text);
    x += metrics.horizontalAdvance(text);
  };
  const auto fits = [&](const QString& text, int more) {
    return x + metrics.horizontalAdvance(text) + more < strip.right() - 8;
  };
  if (color() != LadderColor::plain) {
    say(label_of(color()) + QStringLiteral("  "), t.muted_text);
    const auto entries = colors_->legend(t);
    for (const auto& entry : entries) {
      if (!fits(entry.text, 2 * kSwatch)) break;
      const int width = entry.text.isEmpty() ? 16 : kSwatch;
      const QRect swatch(x, middle - kSwatch / 2, width, kSwatch);
      painter.fillRect(swatch, t.border);
      painter.fillRect(
          swatch.adjusted(entry.text.isEmpty() ? 0 : 1, 1, entry.text.isEmpty() ? 0 : -1, -1),
          entry.color);
      hatch(painter, swatch, entry.hatch, entry.color);
      x += width;
      if (entry.text.isEmpty()) continue;
      x += 5;
      say(entry.text, t.text);
      x += 10;
    }
    if (colors_->is_amount() && fits(tr(" maximum per level"), 0))
      say(tr(" maximum per level"), t.text);
    x += 18;
  }
  // States that occur, then groups.
  std::array<bool, kRungStates> occurs{};
  for (const Rung& rung : ladder_->rungs()) occurs[static_cast<std::size_t>(rung.state)] = true;
  for (std::size_t s = 0; s < kRungStates; ++s) {
    const auto state = static_cast<RungState>(s);
    const QString text = tr("%1 %2").arg(rung_letter(state), rung_word(state));
    if (!occurs[s] || !fits(text, 40)) continue;
    QPainterPath line(QPointF(x, middle));
    line.lineTo(x + kLegendLine, middle);
    draw_rung(painter, line,
              {.state = state, .color = rung_color(t, state), .inside = t.window, .width = 6});
    x += kLegendLine + 5;
    say(text, t.text);
    x += 12;
  }
  x += 6;
  for (std::size_t g = 0; g < snapshot_->graph.group_count(); ++g) {
    const GroupId group(g);
    const QString text = to_qstring(snapshot_->graph.group_label(group));
    if (!fits(text, 24)) break;
    painter.fillRect(QRect(x, middle - kSwatch / 2, kSwatch, kSwatch), group_color(t, group));
    x += kSwatch + 5;
    say(text, t.text);
    x += 12;
  }
  painter.restore();
}

// --- Minimap ---

void GraphView::paint_minimap_rows(QPainter& painter, const QRect& rect) const {
  const Theme& t = theme();
  const double scale = rect.height() / std::max(layout_->height(), 1.0);
  const int half = rect.width() / 2 - 3;
  const auto items = layout_->items();
  for (std::size_t i = 0; i < items.size();) {
    const LadderItem& item = items[i];
    const int y = rect.top() + static_cast<int>(item.y * scale);
    const int height =
        std::max(static_cast<int>((item.bottom(layout_->style()) - item.y) * scale), 1);
    const LadderRow& row = ladder_->row(item.row);
    for (const LadderSide side : kLadderSides) {
      if (!layout_->has(side) || row.side(side).nodes == 0) continue;
      QColor color = colors_->row(t, row, side);
      if (color == t.bed) color = t.border;
      const int inset = std::min(row.depth * 2, half / 2);
      painter.fillRect(side == LadderSide::forward
                           ? QRect(rect.left() + inset, y, half - inset, height)
                           : QRect(rect.right() - half + 1, y, half - inset, height),
                       color);
    }
    // Continue with the next row that falls on another pixel.
    const auto next =
        std::partition_point(items.begin() + static_cast<std::ptrdiff_t>(i) + 1, items.end(),
                             [&](const LadderItem& other) {
                               return rect.top() + static_cast<int>(other.y * scale) <= y;
                             });
    i = static_cast<std::size_t>(next - items.begin());
  }
}

void GraphView::paint_minimap(QPainter& painter) {
  const QRect map = minimap_area();
  const Theme& t = theme();
  painter.fillRect(QRect(map.left() - 6, map.top(), map.width() + 8, map.height()), t.surface);
  if (layout_->height() * view_.scale <= view_.height || map.height() < 40) return;
  const qreal ratio = devicePixelRatioF();
  if (minimap_.isNull() || minimap_.size() != map.size() * ratio) {
    minimap_ = QPixmap(map.size() * ratio);
    minimap_.setDevicePixelRatio(ratio);
    minimap_.fill(t.bed);
    QPainter rows(&minimap_);
    paint_minimap_rows(rows, QRect(QPoint(0, 0), map.size()));
  }
  painter.drawPixmap(map.topLeft(), minimap_);
  const double scale = map.height() / layout_->height();
  const double top = std::clamp(view_.top() * scale, 0.0, static_cast<double>(map.height()));
  const double bottom = std::clamp(view_.bottom() * scale, 0.0, static_cast<double>(map.height()));
  // Selection marks.
  if (marks_.current && marks_.current_place.item >= 0) {
    const LadderItem& item = layout_->item(marks_.current_place.item);
    painter.fillRect(QRectF(map.left(), map.top() + item.y * scale - 1, map.width(), 2), t.accent);
  }
  QColor veil = t.accent;
  veil.setAlphaF(0.16F);
  const QRectF window(map.left() + 0.5, map.top() + top + 0.5, map.width() - 1,
                      std::max(bottom - top, 6.0) - 1);
  painter.fillRect(window, veil);
  painter.setPen(t.accent);
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(window);
}

// --- Hover text ---

QStringList GraphView::card_at(QPoint at) const {
  return lines(hit(at));
}

QStringList GraphView::lines(const LadderHit& under) const {
  if (under.link) return link_lines(layout_->links()[*under.link]);
  if (under.place.item < 0 || !under.side) return {};
  const int row = layout_->item(under.place.item).row;
  if (under.folded > 1)
    return {tr("%1 rows here").arg(count_text(under.folded)),
            tr("starting with %1").arg(QString::fromStdString(ladder_->row(row).path)),
            tr("Zoom in to see them separately")};
  if (under.place.node < 0) return row_lines(row, *under.side);
  const NodeId node = ladder_->boxes(row, *under.side)[static_cast<std::size_t>(under.place.node)];
  QStringList all = hover_lines(*snapshot_, node);
  const Node& n = snapshot_->graph.node(node);
  if (const QString policy = policy_text(n.policy); !policy.isEmpty()) all << policy;
  if (n.has(Node::recomputed))
    all << (n.origin ? tr("recomputed from %1").arg(to_qstring(snapshot_->graph.name(n.origin)))
                     : tr("recomputed in the backward"));
  return all;
}

QStringList GraphView::row_lines(int row, LadderSide side) const {
  const LadderRow& r = ladder_->row(row);
  const LadderSums& s = r.side(side);
  QStringList all;
  all << (r.path.empty() ? row_name(r) : QString::fromStdString(r.path));
  if (r.members > 1)
    all.front() = tr("%1, %2 identical").arg(row_name(r)).arg(r.members);
  else if (r.kind == LadderRow::Kind::nodes && r.type == "itself")
    all.front() += tr(", own nodes");
  if (!r.type.empty() && r.type != "itself") all << QString::fromStdString(r.type);
  all << tr("%1: %2 nodes, %3 estimated")
             .arg(side == LadderSide::forward ? tr("forward") : tr("backward"), count_text(s.nodes),
                  time_text(s.ns));
  if (s.recomputed > 0) all << tr("%1 of them recomputed").arg(count_text(s.recomputed));
  if (s.flops > 0) all << flops_text(s.flops);
  if (s.bytes > 0) all << tr("allocates %1").arg(bytes_text(s.bytes));
  for (const CollectiveMark& mark : s.collectives)
    all << tr("%1 × %2 on %3, exposed %4")
               .arg(count_text(mark.count))
               .arg(to_qstring(to_string(mark.kind)))
               .arg(mark.group ? to_qstring(snapshot_->graph.group_label(mark.group)) : tr("?"))
               .arg(time_text(mark.exposed_ns));
  if (r.parameters > 0)
    all << tr("%1 parameters, %2").arg(count_text(r.parameters)).arg(bytes_text(r.parameter_bytes));
  if (const QString saved = rung_text(r.saved, r.recomputed_bytes);
      !saved.isEmpty() && side == LadderSide::forward)
    all << tr("saved for backward: %1").arg(saved);
  return all;
}

QStringList GraphView::link_lines(const LadderLink& link) const {
  const auto rungs = layout_->link_rungs(link);
  QStringList all;
  all << rung_text(link.saved, link.recomputed_bytes);
  const auto place = [&](LadderPlace p) {
    const LadderRow& row = ladder_->row(layout_->item(p.item).row);
    return row.path.empty() ? row_name(row) : QString::fromStdString(row.path);
  };
  all << (link.to.item < 0
              ? (ladder_->has(LadderSide::backward)
                     ? tr("produced by %1, not read in the backward")
                     : tr("produced by %1; its backward is not in this graph"))
                    .arg(place(link.from))
              : tr("produced by %1, read by %2").arg(place(link.from), place(link.to)));
  std::vector<const Rung*> largest;
  for (const std::uint32_t i : rungs) largest.push_back(&ladder_->rungs()[i]);
  std::stable_sort(largest.begin(), largest.end(),
                   [](const Rung* a, const Rung* b) { return a->bytes > b->bytes; });
  const Graph& graph = snapshot_->graph;
  for (std::size_t i = 0; i < std::min(largest.size(), kMaxNamed); ++i) {
    const Rung& rung = *largest[i];
    QString line = tr("%1  %2, %3")
                       .arg(to_qstring(graph.name(rung.producer)), bytes_text(rung.bytes),
                            rung_word(rung.state));
    if (!rung.is_saved) line += tr(", recomputed");
    if (rung.reader_count > 0)
      line += tr(", read by %1%2")
                  .arg(to_qstring(graph.name(ladder_->readers(rung).front())))
                  .arg(rung.reader_count > 1 ? tr(" and %1 more").arg(rung.reader_count - 1)
                                             : QString());
    all << line;
  }
  if (largest.size() > kMaxNamed)
    all << tr("and %1 more").arg(count_text(largest.size() - kMaxNamed));
  return all;
}

// --- Files ---

bool GraphView::write_picture(const QString& path, bool whole) const {
  LadderView view = view_;
  QSize size = viewport()->size() - QSize(viewport()->width() - area().width(), 0);
  if (whole) {
    view.x = view.y = 0;
    view.scale = 1;
    view.width = layout_->width();
    view.height = layout_->height();
    const bool is_svg = path.endsWith(QStringLiteral(".svg"), Qt::CaseInsensitive);
    if (!is_svg) {
      const double most = std::max(view.width, view.height);
      view.scale =
          std::min({1.0, kMaxSide / most, std::sqrt(kMaxPixels / (view.width * view.height))});
      view.width *= view.scale;
      view.height *= view.scale;
    }
    size = QSize(static_cast<int>(std::ceil(view.width)),
                 static_cast<int>(std::ceil(view.height)) + kHeader + kLegend);
  }
  if (path.endsWith(QStringLiteral(".svg"), Qt::CaseInsensitive)) {
    QSvgGenerator svg;
    svg.setFileName(path);
    svg.setSize(size);
    svg.setViewBox(QRect(QPoint(0, 0), size));
    svg.setTitle(document_.title());
    QPainter painter;
    if (!painter.begin(&svg)) return false;
    painter.setFont(font());
    paint_picture(painter, size, view);
    return painter.end();
  }
  QImage image(size, QImage::Format_RGB32);
  if (image.isNull()) return false;
  QPainter painter(&image);
  painter.setFont(font());
  paint_picture(painter, size, view);
  painter.end();
  return image.save(path);
}

}  // namespace jointer::views
