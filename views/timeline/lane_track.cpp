#include "views/timeline/lane_track.h"

#include <algorithm>
#include <cmath>

namespace jointer::views {
namespace {

constexpr int kLeastNameWidth = 36;
constexpr int kNamePadding = 4;
constexpr int kLeastHatchWidth = 6;

}  // namespace

void LaneTrack::paint(QPainter& painter) const {
  std::array<std::vector<QRect>, kItemColors> rects;
  for (const LaneRun& run : runs_) {
    // A hair of space between wide blocks, so that neighbours are seen apart.
    const int width = run.right - run.left > 4 ? run.right - run.left - 1 : run.right - run.left;
    if (!run.is_folded()) {
      const auto color = static_cast<std::size_t>(lane_.items()[run.first].color);
      rects[color].emplace_back(run.left, area_.top(), width, area_.height());
    } else {
      stack_folded(run, width, rects);
    }
  }
  painter.setPen(Qt::NoPen);
  for (std::size_t c = 0; c < kItemColors; ++c) {
    if (rects[c].empty()) continue;
    painter.setBrush(theme_.item(static_cast<ItemColor>(c)));
    painter.drawRects(rects[c].data(), static_cast<int>(rects[c].size()));
  }
  // Hatching that is too narrow to be seen only costs time.
  auto& stalls = rects[static_cast<std::size_t>(ItemColor::stall)];
  std::erase_if(stalls, [](const QRect& r) { return r.width() < kLeastHatchWidth; });
  painter.setBrush(QBrush(theme_.surface, Qt::BDiagPattern));
  painter.drawRects(stalls.data(), static_cast<int>(stalls.size()));
  paint_names(painter);
}

// Shares of the run's own extent, from the bottom; what is idle in it stays empty at the top.
void LaneTrack::stack_folded(const LaneRun& run, int width,
                             std::array<std::vector<QRect>, kItemColors>& rects) const {
  const auto items = lane_.items();
  const auto times = lane_.times(run.first, run.last);
  std::int64_t busy = 0;
  for (const std::int64_t time : times) busy += time;
  const std::int64_t extent =
      std::max(items[run.last - 1].end - items[run.first].begin, std::max<std::int64_t>(busy, 1));
  std::int64_t sum = 0;
  int bottom = area_.bottom() + 1;
  for (std::size_t c = 0; c < kItemColors; ++c) {
    if (times[c] == 0) continue;
    sum += times[c];
    const double share = static_cast<double>(sum) / static_cast<double>(extent);
    int top = area_.bottom() + 1 - static_cast<int>(std::lround(share * area_.height()));
    // However little time it is, exposed time is seen.
    if (top == bottom && static_cast<ItemColor>(c) == ItemColor::stall) --top;
    if (top < bottom) rects[c].emplace_back(run.left, top, width, bottom - top);
    bottom = std::min(bottom, top);
  }
}

void LaneTrack::paint_names(QPainter& painter) const {
  const QFontMetrics metrics = painter.fontMetrics();
  if (metrics.height() > area_.height()) return;
  for (const LaneRun& run : runs_) {
    if (run.is_folded() || run.right - run.left < kLeastNameWidth) continue;
    const LaneItem& item = lane_.items()[run.first];
    const auto name = graph_.name(item.node);
    const QRect box(run.left + kNamePadding, area_.top(), run.right - run.left - 2 * kNamePadding,
                    area_.height());
    const QString text = metrics.elidedText(
        QString::fromUtf8(name.data(), static_cast<int>(name.size())), Qt::ElideRight, box.width());
    painter.setPen(Theme::text_on(theme_.item(item.color)));
    painter.drawText(box, Qt::AlignLeft | Qt::AlignVCenter, text);
  }
}

std::optional<LaneRun> LaneTrack::run_at(int x) const {
  // Runs may overlap in program order; the last one is drawn on top.
  for (std::size_t i = runs_.size(); i-- > 0;)
    if (runs_[i].left <= x && x < runs_[i].right) return runs_[i];
  return std::nullopt;
}

}  // namespace jointer::views
