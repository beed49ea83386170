#include "views/timeline/lane_legend.h"

#include "views/theme/fonts.h"

namespace jointer::views {

LaneLegend::LaneLegend(const TimelineScene& scene) : scene_(scene), rows_(entries(scene), 1) {}

std::vector<LegendEntry> LaneLegend::entries(const TimelineScene& scene) {
  Lane::TimeByColor time{};
  for (std::size_t row = 0; row < scene.content.rows().size(); ++row) {
    const Lane& lane = scene.lane(row);
    const Lane::TimeByColor of_lane = lane.times(0, lane.items().size());
    for (std::size_t c = 0; c < kItemColors; ++c) time[c] += of_lane[c];
  }
  std::vector<LegendEntry> entries;
  if (scene.content.shows_kernels())
    entries.push_back(
        {scene.content.kernels_legend(), scene.theme.muted_text, LegendEntry::Swatch::line});
  for (std::size_t c = 0; c < kItemColors; ++c) {
    const auto color = static_cast<ItemColor>(c);
    if (time[c] > 0)
      entries.push_back({item_label(color), scene.theme.item(color), LegendEntry::Swatch::outlined,
                         color == ItemColor::stall ? Qt::BDiagPattern : Qt::NoBrush});
  }
  return entries;
}

int LaneLegend::height(int width) const {
  if (!scene_.content.shows_lane_legend()) return 0;
  const QFontMetrics metrics(small_font(scene_.font));
  return rows_.rows(metrics, TimelineLayout::axis_width(width)) * LegendRows::kRowHeight;
}

QStringList LaneLegend::left_out() const {
  return rows_.left_out(QFontMetrics(small_font(scene_.font)), scene_.layout.lane_legend.width());
}

void LaneLegend::paint(QPainter& painter) const {
  if (scene_.layout.lane_legend.isEmpty()) return;
  painter.save();
  painter.setFont(small_font(scene_.font));
  rows_.paint(painter, scene_.layout.lane_legend, scene_.theme);
  painter.setPen(scene_.theme.muted_text);
  painter.drawText(QRect(8, scene_.layout.lane_legend.top(), scene_.layout.gutter - 16,
                         scene_.layout.lane_legend.height()),
                   Qt::AlignLeft | Qt::AlignVCenter, tr("lanes:"));
  painter.restore();
}

}  // namespace jointer::views
