#pragma once

// Maps between the ladder and the screen: visible part, scale and hit testing, in plain numbers.

#include <cstdint>
#include <optional>
#include <vector>

#include "views/graph/ladder_layout.h"

namespace jointer::views {

// screen = ladder * scale - offset
struct LadderView {
  double scale = 1;
  double x = 0, y = 0;           // offset
  double width = 0, height = 0;  // size of the viewport, in pixels

  static constexpr double kMinScale = 0.02, kMaxScale = 4;

  [[nodiscard]] double to_x(double ladder_x) const { return ladder_x * scale - x; }
  [[nodiscard]] double to_y(double ladder_y) const { return ladder_y * scale - y; }
  [[nodiscard]] double from_x(double screen_x) const { return (screen_x + x) / scale; }
  [[nodiscard]] double from_y(double screen_y) const { return (screen_y + y) / scale; }
  [[nodiscard]] double top() const { return from_y(0); }
  [[nodiscard]] double bottom() const { return from_y(height); }
  // Zooms around a point, which keeps its position on screen.
  void zoom_at(double screen_x, double screen_y, double factor);
  // Shows the whole ladder if the minimum scale permits, centered horizontally, at a scale of at
  // most 1.
  void fit(const LadderLayout& layout);
  // Scrolls as little as possible to show [begin, end), or the beginning if the range does not fit.
  void show_y(double begin, double end, double room = 0);
  void show_x(double begin, double end, double room = 0);
};

// Items [first, last). Rows less than kFoldPixels high are drawn together as one bar.
struct LadderBand {
  std::int32_t first = 0, last = 0;
  double y = 0, height = 0;  // extent of the boxes, in ladder coordinates
  [[nodiscard]] bool is_folded() const { return last - first > 1; }
};
inline constexpr double kFoldPixels = 3;

// The visible rows: at most one band per kFoldPixels. Cost: per band, logarithmic in the number of
// rows.
std::vector<LadderBand> visible_bands(const LadderLayout& layout, const LadderView& view);

// Width of a rung at a scale of 1.
double rung_thickness(std::int64_t bytes, std::int64_t max_bytes);

// The x coordinate at which a link ends: the right edge of the channel or, if nothing reads its
// storages, a point before it.
double link_right(const LadderLayout& layout, const LadderLink& link);

// The y coordinate at `x` of a link's curve across the channel.
double curve_y(double left, double right, double y0, double y1, double x);

// The item under the pointer.
struct LadderHit {
  LadderPlace place;  // a row or a node
  std::optional<LadderSide> side;
  bool is_toggle = false;           // the toggle that expands and collapses a row
  std::int32_t folded = 1;          // number of rows drawn as one bar, starting at `place`
  std::optional<std::size_t> link;  // a rung: index in LadderLayout::links
  [[nodiscard]] bool is_empty() const { return place.item < 0 && !link; }
};
LadderHit hit_ladder(const LadderLayout& layout, const LadderView& view, double screen_x,
                     double screen_y);

}  // namespace jointer::views
