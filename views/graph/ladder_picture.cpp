#include "views/graph/ladder_picture.h"

#include <QImage>
#include <QSvgGenerator>
#include <algorithm>
#include <array>
#include <cmath>

#include "views/graph/ladder_header.h"
#include "views/graph/rung_style.h"
#include "views/session/text/node_text.h"
#include "views/session/text/number_text.h"
#include "views/session/translation/tr.h"
#include "views/theme/fonts.h"

namespace jointer::views {
namespace {

constexpr int kLegendLine = 22, kSwatch = 10;
constexpr double kMaxSide = 16'000, kMaxPixels = 6.0e7;  // limits on the size of a PNG

void paint_legend(QPainter& painter, const QRect& strip, const LadderScene& scene,
                  const QFont& font) {
  const Theme& t = scene.theme;
  painter.save();
  painter.fillRect(strip, t.window);
  painter.fillRect(QRect(strip.left(), strip.top(), strip.width(), 1), t.border);
  painter.setFont(small_font(font));
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
  if (scene.colors.by() != LadderColor::plain) {
    say(label_of(scene.colors.by()) + QStringLiteral("  "), t.muted_text);
    const auto entries = scene.colors.legend(t);
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
    if (scene.colors.is_amount() && fits(tr(" maximum at the same level"), 0))
      say(tr(" maximum at the same level"), t.text);
    x += 18;
  }
  if (const QString text = tr("nodes of one kernel (%1)").arg(scene.kernel_source);
      scene.kernels != nullptr && fits(text, 2 * kSwatch)) {
    painter.setPen(QPen(t.item(ItemColor::memory), 2));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(QRect(x, middle - kSwatch / 2, 2 * kSwatch - 4, kSwatch));
    x += 2 * kSwatch;
    say(text, t.text);
    x += 18;
  }
  // The rung states that occur, then the process groups.
  std::array<bool, kRungStates> occurs{};
  for (const Rung& rung : scene.ladder.rungs()) occurs[static_cast<std::size_t>(rung.state)] = true;
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
  for (std::size_t g = 0; g < scene.snapshot.graph.group_count(); ++g) {
    const GroupId group(g);
    const QString text = to_qstring(scene.snapshot.graph.group_label(group));
    if (!fits(text, 24)) break;
    painter.fillRect(QRect(x, middle - kSwatch / 2, kSwatch, kSwatch), t.group(group));
    x += kSwatch + 5;
    say(text, t.text);
    x += 12;
  }
  painter.restore();
}

}  // namespace

void paint_ladder_picture(QPainter& painter, QSize size, const LadderScene& scene,
                          const QFont& font) {
  const Theme& t = scene.theme;
  const QRect all(QPoint(0, 0), size);
  painter.fillRect(all, t.surface);
  painter.save();
  const QRect inner = all.adjusted(0, kLadderHeader, 0, -kLadderLegend);
  painter.setClipRect(inner);
  painter.translate(inner.topLeft());
  LadderPainter(painter, scene).paint();
  painter.restore();
  const Graph& graph = scene.snapshot.graph;
  if (std::ranges::none_of(graph.order(),
                           [&](NodeId id) { return graph.node(id).kind == NodeKind::call; })) {
    painter.setPen(t.muted_text);
    painter.drawText(inner, Qt::AlignCenter, tr("The graph has no calls."));
  }
  paint_ladder_header(painter, {0, 0, size.width(), kLadderHeader}, scene, font);
  paint_legend(painter, {0, size.height() - kLadderLegend, size.width(), kLadderLegend}, scene,
               font);
}

bool write_ladder_picture(const QString& path, bool whole, const QString& title,
                          const LadderScene& shown, const QFont& font) {
  LadderScene scene = shown;
  LadderView& view = scene.view;
  const bool is_svg = path.endsWith(QStringLiteral(".svg"), Qt::CaseInsensitive);
  if (whole) {
    view.x = view.y = 0;
    view.scale = 1;
    view.width = scene.layout.width();
    view.height = scene.layout.height();
    if (!is_svg) {
      const double longer_side = std::max(view.width, view.height);
      view.scale = std::min(
          {1.0, kMaxSide / longer_side, std::sqrt(kMaxPixels / (view.width * view.height))});
      view.width *= view.scale;
      view.height *= view.scale;
    }
  }
  const QSize size(static_cast<int>(std::ceil(view.width)),
                   static_cast<int>(std::ceil(view.height)) + kLadderHeader + kLadderLegend);
  if (is_svg) {
    QSvgGenerator svg;
    svg.setFileName(path);
    svg.setSize(size);
    svg.setViewBox(QRect(QPoint(0, 0), size));
    svg.setTitle(title);
    QPainter painter;
    if (!painter.begin(&svg)) return false;
    painter.setFont(font);
    paint_ladder_picture(painter, size, scene, font);
    return painter.end();
  }
  QImage image(size, QImage::Format_RGB32);
  if (image.isNull()) return false;
  QPainter painter(&image);
  painter.setFont(font);
  paint_ladder_picture(painter, size, scene, font);
  painter.end();
  return image.save(path);
}

}  // namespace jointer::views
