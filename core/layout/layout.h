#pragma once

// Where the boxes and lines of a directed graph go. Coordinates are pixels at full size, y down,
// from (0, 0) to (width, height).

#include <cstdint>
#include <vector>

namespace jointer {

struct LayoutPoint {
  double x = 0, y = 0;
  friend bool operator==(const LayoutPoint&, const LayoutPoint&) = default;
};

struct LayoutEdge {
  std::uint32_t from = 0, to = 0;  // nodes; from < to
  friend auto operator<=>(const LayoutEdge&, const LayoutEdge&) = default;
};

// Boxes of one size, numbered so that every edge goes from a lower number to a higher one, as in a
// program's order. An edge is given once.
struct LayoutGraph {
  std::uint32_t nodes = 0;
  std::vector<LayoutEdge> edges;
  friend auto operator<=>(const LayoutGraph&, const LayoutGraph&) = default;
};

struct LayoutStyle {
  double node_width = 164, node_height = 22;
  double node_gap = 14;  // between boxes of one rank
  double rank_gap = 16;  // between ranks: no box is there
  // Wider graphs are folded into more ranks, so that they are tall rather than wide. 0: never.
  std::uint32_t most_in_rank = 3;
};

// Boxes stand in ranks, one above the other; every edge leaves a box at its bottom and enters a box
// of a lower rank at its top.
struct Layout {
  struct Route {
    std::vector<LayoutPoint> points;
    bool is_curve = false;  // points are of cubic Béziers: 1 + 3 n; else of a polyline
  };
  std::vector<LayoutPoint> centers;  // by node
  std::vector<std::uint32_t> ranks;  // by node
  std::vector<double> rank_tops;     // by rank; a rank is node_height high
  std::vector<Route> routes;         // by edge
  double width = 0, height = 0;
};

}  // namespace jointer
