#include "views/graph/ladder_view.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace jointer::views {
namespace {

constexpr double kToggle = 22;  // width of a box's toggle
constexpr double kReach = 4;    // tolerance for hitting a rung, in pixels

// The first item that ends below `y`.
std::int32_t first_item(const LadderLayout& layout, double y) {
  const auto items = layout.items();
  const auto found = std::partition_point(items.begin(), items.end(), [&](const LadderItem& item) {
    return item.bottom(layout.style()) < y;
  });
  return static_cast<std::int32_t>(found - items.begin());
}

}  // namespace

void LadderView::zoom_at(double screen_x, double screen_y, double factor) {
  const double px = from_x(screen_x), py = from_y(screen_y);
  scale = std::clamp(scale * factor, kMinScale, kMaxScale);
  x = px * scale - screen_x;
  y = py * scale - screen_y;
}

void LadderView::fit(const LadderLayout& layout) {
  const double wanted = std::min({1.0, width / layout.width(), height / layout.height()});
  scale = std::clamp(wanted, kMinScale, kMaxScale);
  x = std::min(0.0, (layout.width() * scale - width) / 2);
  y = 0;
}

namespace {

double shown(double offset, double size, double begin, double end) {
  if (begin < offset || end - begin > size) return begin;
  return end > offset + size ? end - size : offset;
}

}  // namespace

void LadderView::show_y(double begin, double end, double room) {
  y = shown(y, height, begin * scale - room, end * scale + room);
}

void LadderView::show_x(double begin, double end, double room) {
  x = shown(x, width, begin * scale - room, end * scale + room);
}

std::vector<LadderBand> visible_bands(const LadderLayout& layout, const LadderView& view) {
  std::vector<LadderBand> bands;
  const auto items = layout.items();
  const auto count = static_cast<std::int32_t>(items.size());
  const double min_height = kFoldPixels / view.scale;
  const double row_height = layout.style().row_height;
  for (std::int32_t i = first_item(layout, view.top()); i < count;) {
    const LadderItem& item = layout.item(i);
    if (item.y > view.bottom()) break;
    std::int32_t end = i + 1;
    double bottom = item.y + row_height;
    if (row_height < min_height) {
      const auto next = std::partition_point(
          items.begin() + i + 1, items.end(),
          [&](const LadderItem& other) { return other.y < item.y + min_height; });
      end = static_cast<std::int32_t>(next - items.begin());
      bottom = std::max(layout.item(end - 1).bottom(layout.style()), item.y + min_height);
    }
    bands.push_back({i, end, item.y, bottom - item.y});
    i = end;
  }
  return bands;
}

double rung_thickness(std::int64_t bytes, std::int64_t max_bytes) {
  constexpr double kThinnest = 1.2, kThickest = 14;
  if (max_bytes <= 0) return kThinnest;
  return kThinnest +
         (kThickest - kThinnest) * static_cast<double>(bytes) / static_cast<double>(max_bytes);
}

double link_right(const LadderLayout& layout, const LadderLink& link) {
  constexpr double kUnread = 0.6;  // of the channel
  const double left = layout.channel_left(), right = layout.channel_right();
  return link.to.item < 0 ? left + (right - left) * kUnread : right;
}

double curve_y(double left, double right, double y0, double y1, double x) {
  // Both control points are at half the width, so x(t) is monotonic and bisection finds t.
  double low = 0, high = 1;
  const double wanted = std::clamp((x - left) / std::max(right - left, 1e-9), 0.0, 1.0);
  for (int i = 0; i < 24; ++i) {
    const double t = (low + high) / 2;
    const double s = 1 - t;
    const double at = 3 * s * s * t * 0.5 + 3 * s * t * t * 0.5 + t * t * t;
    (at < wanted ? low : high) = t;
  }
  const double t = (low + high) / 2;
  const double share = t * t * (3 - 2 * t);
  return y0 + (y1 - y0) * share;
}

namespace {

std::optional<std::size_t> hit_link(const LadderLayout& layout, const LadderView& view, double x,
                                    double y) {
  std::optional<std::size_t> best;
  double nearest = std::numeric_limits<double>::max();
  const auto links = layout.links();
  for (std::size_t i = 0; i < links.size(); ++i) {
    if (x > link_right(layout, links[i])) continue;
    const double y0 = layout.line(links[i].from, LadderSide::forward).back().y;
    const double y1 =
        links[i].to.item < 0 ? y0 : layout.line(links[i].to, LadderSide::backward).back().y;
    const double reach =
        rung_thickness(links[i].bytes(), layout.max_bytes()) / 2 + kReach / view.scale;
    if (y < std::min(y0, y1) - reach || y > std::max(y0, y1) + reach) continue;
    const double distance =
        std::abs(curve_y(layout.channel_left(), layout.channel_right(), y0, y1, x) - y);
    if (distance > reach || distance >= nearest) continue;
    nearest = distance;
    best = i;
  }
  return best;
}

void hit_node(const LadderLayout& layout, double x, double y, LadderHit& hit) {
  const LadderItem& item = layout.item(hit.place.item);
  if (!item.group || y < item.panel_y) return;
  for (const LadderSide side : kLadderSides) {
    const LadderRect& panel = item.panels[index_of(side)];
    if (!panel.contains(x, y)) continue;
    const std::size_t nodes = item.group->sides[index_of(side)].centers.size();
    for (std::size_t n = 0; n < nodes; ++n) {
      if (!layout.node_box(item, side, n).contains(x, y)) continue;
      hit.place.node = static_cast<std::int32_t>(n);
      hit.side = side;
      return;
    }
  }
}

}  // namespace

LadderHit hit_ladder(const LadderLayout& layout, const LadderView& view, double screen_x,
                     double screen_y) {
  const double x = view.from_x(screen_x), y = view.from_y(screen_y);
  if (x > layout.channel_left() && x < layout.channel_right()) {
    LadderHit hit;
    hit.link = hit_link(layout, view, x, y);
    if (hit.link) return hit;
  }
  const std::int32_t index = first_item(layout, y);
  if (index >= static_cast<std::int32_t>(layout.items().size())) return {};
  const LadderItem& item = layout.item(index);
  if (y < item.y) return {};
  LadderHit hit{.place = {index, -1}};
  for (const LadderSide side : kLadderSides) {
    const LadderRect box = layout.box(item, side);
    if (!layout.has(side) || !box.contains(x, y)) continue;
    hit.side = side;
    hit.is_toggle = side == LadderSide::forward ? x < box.x + kToggle : x > box.right() - kToggle;
  }
  if (!hit.side) hit_node(layout, x, y, hit);
  if (!hit.side) return {};
  if (layout.style().row_height * view.scale < kFoldPixels) {
    const double end = item.y + kFoldPixels / view.scale;
    const auto items = layout.items();
    const auto next = std::partition_point(items.begin() + index + 1, items.end(),
                                           [&](const LadderItem& other) { return other.y < end; });
    hit.folded = static_cast<std::int32_t>(next - items.begin()) - index;
  }
  return hit;
}

}  // namespace jointer::views
