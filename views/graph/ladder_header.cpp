#include "views/graph/ladder_header.h"

#include <algorithm>

#include "views/session/text/number_text.h"
#include "views/session/translation/tr.h"
#include "views/theme/fonts.h"

namespace jointer::views {
namespace {

QStringList texts_of_side(const LadderSums& sums, const QString& name) {
  const QString time = time_text(sums.ns);
  const QString nodes = nodes_text(sums.nodes);
  return {tr("%1   %2, %3").arg(name, nodes, time), tr("%1   %2").arg(name, time), name};
}

}  // namespace

std::vector<LadderHeading> ladder_headings(const LadderScene& scene, const QRect& strip) {
  const LadderView& view = scene.view;
  LadderSums sums[2];
  BytesByState saved{};
  std::int64_t recomputed_bytes = 0;
  for (const LadderRow& row : scene.ladder.rows()) {
    if (row.parent >= 0) continue;
    for (const LadderSide side : kLadderSides) sums[index_of(side)] += row.side(side);
    for (std::size_t s = 0; s < kRungStates; ++s) saved[s] += row.saved[s];
    recomputed_bytes += row.recomputed_bytes;
  }
  const auto area = [&](double from, double to) {
    const int left = std::max(static_cast<int>(from), strip.left() + 8);
    const int right = std::min(static_cast<int>(to), strip.right() - 8);
    return QRect(left, strip.top(), right - left, strip.height());
  };
  const double left = view.to_x(scene.layout.channel_left());
  const double right = view.to_x(scene.layout.channel_right());
  std::vector<LadderHeading> headings;
  if (scene.layout.has(LadderSide::forward))
    headings.push_back(
        {.area = area(view.to_x(0) + 8, left - 8),
         .alignment = Qt::AlignLeft,
         .texts = texts_of_side(sums[index_of(LadderSide::forward)], tr("↓ forward"))});
  if (scene.layout.has(LadderSide::backward))
    headings.push_back(
        {.area = area(right + 2, view.to_x(scene.layout.width()) - 8),
         .alignment = Qt::AlignRight,
         .texts = texts_of_side(sums[index_of(LadderSide::backward)], tr("↑ backward"))});
  headings.push_back({.area = area(left + 4, right - 4),
                      .alignment = Qt::AlignHCenter,
                      .is_of_values = true,
                      .texts = channel_texts(saved, recomputed_bytes)});
  return headings;
}

QString text_that_fits(const QStringList& texts, const QFontMetrics& metrics, int width) {
  const auto found = std::ranges::find_if(
      texts, [&](const QString& text) { return metrics.horizontalAdvance(text) <= width; });
  return found == texts.end() ? QString() : *found;
}

void paint_ladder_header(QPainter& painter, const QRect& strip, const LadderScene& scene,
                         const QFont& font) {
  const Theme& t = scene.theme;
  painter.save();
  painter.fillRect(strip, t.window);
  painter.setFont(small_font(font));
  for (const LadderHeading& heading : ladder_headings(scene, strip)) {
    painter.setPen(heading.is_of_values ? t.text : t.muted_text);
    painter.drawText(heading.area, heading.alignment | Qt::AlignVCenter,
                     text_that_fits(heading.texts, painter.fontMetrics(), heading.area.width()));
  }
  painter.fillRect(QRect(strip.left(), strip.bottom(), strip.width(), 1), t.border);
  painter.restore();
}

QString cut_heading_at(QPoint at, const QRect& strip, const LadderScene& scene, const QFont& font) {
  if (!strip.contains(at)) return {};
  const QFontMetrics metrics(small_font(font));
  for (const LadderHeading& heading : ladder_headings(scene, strip))
    if (heading.area.contains(at) && !heading.texts.isEmpty() &&
        text_that_fits(heading.texts, metrics, heading.area.width()) != heading.texts.front())
      return heading.texts.front();
  return {};
}

}  // namespace jointer::views
