#include "views/timeline/lane_track.h"

#include <algorithm>
#include <cmath>

#include "views/session/translation/qstring.h"

namespace jointer::views {
namespace {

constexpr int kMinNameWidth = 36;
constexpr int kNamePadding = 4;
constexpr int kMinHatchWidth = 6;
constexpr int kMinOutlineWidth = 4;

}  // namespace

// Blocks of one color are painted together, which is faster, so a run that overlaps an earlier one
// starts a new group.
void LaneTrack::paint(QPainter& painter) const {
  const std::span<const LaneRun> runs = runs_;
  std::size_t first = 0;
  int end = area_.left();  // of the group
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (runs[i].left < end) {
      paint_runs(painter, runs.subspan(first, i - first));
      first = i;
      end = runs[i].right;
    }
    end = std::max(end, runs[i].right);
  }
  paint_runs(painter, runs.subspan(first));
}

void LaneTrack::paint_runs(QPainter& painter, std::span<const LaneRun> runs) const {
  std::array<std::vector<QRect>, kItemColors> rects;
  for (const LaneRun& run : runs) {
    // Leave a pixel between wide blocks, so that they can be distinguished.
    const int width = run.right - run.left > 4 ? run.right - run.left - 1 : run.right - run.left;
    if (!run.is_folded()) {
      const auto color = static_cast<std::size_t>(lane_.items()[run.first].color);
      rects[color].emplace_back(run.left, area_.top(), width, area_.height());
    } else {
      stack_folded(run, width, rects);
    }
  }
  painter.setPen(Qt::NoPen);
  for (std::size_t c = 0; c < kItemColors; ++c)
    if (!rects[c].empty()) paint_blocks(painter, static_cast<ItemColor>(c), rects[c]);
  paint_names(painter, runs);
}

void LaneTrack::paint_blocks(QPainter& painter, ItemColor color, std::vector<QRect>& blocks) const {
  const auto draw = [&] { painter.drawRects(blocks.data(), static_cast<int>(blocks.size())); };
  const QColor full = theme_.item(color);
  const bool is_estimate = style_ == LaneStyle::estimated;
  const auto drop_narrow = [&](int min_width) {
    std::erase_if(blocks, [min_width](const QRect& r) { return r.width() < min_width; });
  };
  if (is_estimate) {
    // Large blocks have an outline and a pale interior; the others have a single, stronger shade.
    std::vector<QRect> wide, inner;
    for (const QRect& r : blocks) {
      if (r.width() < kMinOutlineWidth || r.height() < kMinOutlineWidth) continue;
      wide.push_back(r);
      inner.push_back(r.adjusted(1, 1, -1, -1));
    }
    painter.setBrush(theme_.half(full));
    draw();
    painter.setBrush(full);
    painter.drawRects(wide.data(), static_cast<int>(wide.size()));
    painter.setBrush(theme_.pale(full));
    painter.drawRects(inner.data(), static_cast<int>(inner.size()));
    if (color == ItemColor::stall) blocks = std::move(inner);
  } else {
    painter.setBrush(full);
    draw();
  }
  if (color != ItemColor::stall) return;
  // Hatching is not visible on narrow blocks and would only cost time.
  drop_narrow(kMinHatchWidth);
  painter.setBrush(QBrush(is_estimate ? full : theme_.surface, Qt::BDiagPattern));
  draw();
}

// Stacks the colors in proportion to their share of the run's extent; idle time leaves the top
// empty.
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
    // Exposed time is always at least one pixel high.
    if (top == bottom && static_cast<ItemColor>(c) == ItemColor::stall) --top;
    if (top < bottom) rects[c].emplace_back(run.left, top, width, bottom - top);
    bottom = std::min(bottom, top);
  }
}

void LaneTrack::paint_names(QPainter& painter, std::span<const LaneRun> runs) const {
  const QFontMetrics metrics = painter.fontMetrics();
  if (metrics.height() > area_.height()) return;
  for (const LaneRun& run : runs) {
    if (run.is_folded() || run.right - run.left < kMinNameWidth) continue;
    const LaneItem& item = lane_.items()[run.first];
    const std::string* item_text = lane_.text(item);
    const std::string_view name = item_text != nullptr ? *item_text : graph_.name(item.node);
    const QRect box(run.left + kNamePadding, area_.top(), run.right - run.left - 2 * kNamePadding,
                    area_.height());
    const QString text = metrics.elidedText(to_qstring(name), Qt::ElideRight, box.width());
    const QColor full = theme_.item(item.color);
    painter.setPen(Theme::text_on(style_ == LaneStyle::estimated ? theme_.pale(full) : full));
    painter.drawText(box, Qt::AlignLeft | Qt::AlignVCenter, text);
  }
}

std::optional<LaneRun> LaneTrack::run_at(int x) const {
  for (std::size_t i = runs_.size(); i-- > 0;)
    if (runs_[i].left <= x && x < runs_[i].right) return runs_[i];
  return std::nullopt;
}

}  // namespace jointer::views
