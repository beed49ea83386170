#pragma once

// A drawing of a directed graph: positions of boxes and lines. Coordinates are in pixels at 100%
// zoom, from (0, 0) to (width, height); y points down.

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

// A graph to draw; all boxes have the same size. Every edge goes from a lower-numbered node to a
// higher-numbered one, as in program order, and is listed once.
struct LayoutGraph {
  std::uint32_t nodes = 0;
  std::vector<LayoutEdge> edges;
  friend auto operator<=>(const LayoutGraph&, const LayoutGraph&) = default;
};

struct LayoutStyle {
  double node_width = 164, node_height = 22;
  double node_gap = 14;  // the minimum between boxes of one rank
  double rank_gap = 16;  // the minimum between ranks
  // The maximum number of boxes in a rank, or 0 for no limit. layered_layout folds a wider graph
  // into more ranks, so that it becomes taller instead of wider; dot_layouts ignores the maximum.
  std::uint32_t max_in_rank = 3;
};

// Boxes lie in ranks, one below the other. Every edge leaves a box at its bottom and enters a box
// in a lower rank at its top.
struct Layout {
  struct Route {
    std::vector<LayoutPoint> points;
    bool is_curve = false;  // `points` are 1 + 3 n points of cubic Béziers; if false, a polyline
  };
  std::vector<LayoutPoint> centers;  // by node
  std::vector<std::uint32_t> ranks;  // by node
  std::vector<double> rank_tops;     // by rank; a rank is node_height high
  std::vector<Route> routes;         // by edge
  double width = 0, height = 0;
};

}  // namespace jointer
