#pragma once

// From the ladder to the screen and back: which part of it is seen, how large, what is under a
// pointer. Plain numbers.

#include <cstdint>
#include <optional>
#include <vector>

#include "views/graph/ladder_layout.h"

namespace jointer::views {

// screen = ladder * scale - offset
struct LadderView {
  double scale = 1;
  double x = 0, y = 0;           // offset
  double width = 0, height = 0;  // of what is seen, in pixels

  static constexpr double kLeastScale = 0.02, kMostScale = 4;

  [[nodiscard]] double to_x(double ladder_x) const { return ladder_x * scale - x; }
  [[nodiscard]] double to_y(double ladder_y) const { return ladder_y * scale - y; }
  [[nodiscard]] double from_x(double screen_x) const { return (screen_x + x) / scale; }
  [[nodiscard]] double from_y(double screen_y) const { return (screen_y + y) / scale; }
  [[nodiscard]] double top() const { return from_y(0); }
  [[nodiscard]] double bottom() const { return from_y(height); }
  // What is at this place of the screen stays there.
  void zoom_at(double screen_x, double screen_y, double factor);
  // The whole ladder, in the middle, at most at full size.
  void fit(const LadderLayout& layout);
  // Scrolls as little as it takes to have [begin, end) on screen; of more than fits, the beginning.
  void show_y(double begin, double end, double room = 0);
  void show_x(double begin, double end, double room = 0);
};

// Items [first, last), drawn as one bar where they are under kFoldPixels.
struct LadderBand {
  std::int32_t first = 0, last = 0;
  double y = 0, height = 0;  // in the ladder, of boxes
  [[nodiscard]] bool is_folded() const { return last - first > 1; }
};
inline constexpr double kFoldPixels = 3;

// What is drawn of the rows: at most one band every kFoldPixels. Cost: logarithmic in the rows.
std::vector<LadderBand> visible_bands(const LadderLayout& layout, const LadderView& view);

// How thick a rung is drawn, at full size.
double rung_thickness(std::int64_t bytes, std::int64_t most_bytes);

// A link's curve across the channel at `x` between its edges: its y.
double curve_y(double left, double right, double y0, double y1, double x);

// Under a pointer.
struct LadderHit {
  LadderPlace place;  // a row or a node
  std::optional<LadderSide> side;
  bool is_toggle = false;           // the mark that opens and closes a row
  std::int32_t folded = 1;          // rows that are drawn as one, from place on
  std::optional<std::size_t> link;  // a rung: in LadderLayout::links
  [[nodiscard]] bool is_nothing() const { return place.item < 0 && !link; }
};
LadderHit hit_ladder(const LadderLayout& layout, const LadderView& view, double screen_x,
                     double screen_y);

}  // namespace jointer::views
