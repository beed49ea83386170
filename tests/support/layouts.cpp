#include "tests/support/layouts.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

namespace jointer::test {
namespace {

constexpr double kSlack = 2.5;

// Returns true if the segment from a to b crosses the inside of the box around `center`.
bool crosses(LayoutPoint a, LayoutPoint b, LayoutPoint center, const LayoutStyle& style) {
  const double left = center.x - style.node_width / 2 + kSlack;
  const double right = center.x + style.node_width / 2 - kSlack;
  const double top = center.y - style.node_height / 2 + kSlack;
  const double bottom = center.y + style.node_height / 2 - kSlack;
  // Liang and Barsky: clips the segment by each side in turn.
  double first = 0, last = 1;
  const auto clip = [&](double delta, double room) {
    if (std::abs(delta) < 1e-12) return room >= 0;
    const double t = room / delta;
    if (delta < 0)
      first = std::max(first, t);
    else
      last = std::min(last, t);
    return first < last;
  };
  return clip(-(b.x - a.x), a.x - left) && clip(b.x - a.x, right - a.x) &&
         clip(-(b.y - a.y), a.y - top) && clip(b.y - a.y, bottom - a.y);
}

}  // namespace

LayoutGraph random_layout_graph(std::uint32_t seed, std::uint32_t max) {
  std::mt19937 random(seed);
  LayoutGraph graph{.nodes = 1 + static_cast<std::uint32_t>(random()) % max};
  std::set<LayoutEdge> edges;
  for (std::uint32_t to = 1; to < graph.nodes; ++to)
    for (std::uint32_t inputs = static_cast<std::uint32_t>(random()) % 4; inputs > 0; --inputs) {
      // Mostly near, sometimes far above.
      const std::uint32_t reach = random() % 5 == 0 ? to : std::min(to, 4U);
      edges.insert({to - 1 - static_cast<std::uint32_t>(random()) % reach, to});
    }
  graph.edges.assign(edges.begin(), edges.end());
  return graph;
}

std::string layout_mistake(const LayoutGraph& graph, const Layout& layout,
                           const LayoutStyle& style) {
  if (layout.centers.size() != graph.nodes || layout.ranks.size() != graph.nodes ||
      layout.routes.size() != graph.edges.size())
    return "nodes, ranks or routes are missing";
  for (std::uint32_t n = 0; n < graph.nodes; ++n) {
    const LayoutPoint c = layout.centers[n];
    if (c.x - style.node_width / 2 < -kSlack || c.y - style.node_height / 2 < -kSlack ||
        c.x + style.node_width / 2 > layout.width + kSlack ||
        c.y + style.node_height / 2 > layout.height + kSlack)
      return fmt::format("node {} is outside", n);
    if (std::abs(layout.rank_tops[layout.ranks[n]] + style.node_height / 2 - c.y) > 0.01)
      return fmt::format("node {} is not in its rank", n);
    for (std::uint32_t m = 0; m < n; ++m)
      if (std::abs(layout.centers[m].x - c.x) < style.node_width - 0.01 &&
          std::abs(layout.centers[m].y - c.y) < style.node_height - 0.01)
        return fmt::format("nodes {} and {} overlap", m, n);
  }
  for (std::size_t r = 1; r < layout.rank_tops.size(); ++r)
    if (layout.rank_tops[r] < layout.rank_tops[r - 1] + style.node_height)
      return fmt::format("ranks {} and {} overlap", r - 1, r);
  for (std::size_t i = 0; i < graph.edges.size(); ++i) {
    const auto [from, to] = graph.edges[i];
    const auto& route = layout.routes[i];
    if (layout.ranks[from] >= layout.ranks[to])
      return fmt::format("edge {} -> {} does not lead down", from, to);
    if (route.points.size() < 2) return fmt::format("edge {} -> {} has no line", from, to);
    const auto meets = [&](LayoutPoint end, std::uint32_t node, double side) {
      const LayoutPoint c = layout.centers[node];
      return std::abs(end.x - c.x) <= style.node_width / 2 + kSlack &&
             std::abs(end.y - (c.y + side * style.node_height / 2)) <= kSlack;
    };
    if (!meets(route.points.front(), from, 1) || !meets(route.points.back(), to, -1))
      return fmt::format("the line of {} -> {} does not join them", from, to);
    if (route.is_curve) continue;  // dot routes curves around boxes
    for (std::size_t p = 1; p < route.points.size(); ++p)
      for (std::uint32_t n = 0; n < graph.nodes; ++n)
        if (crosses(route.points[p - 1], route.points[p], layout.centers[n], style))
          return fmt::format("the line of {} -> {} leads through node {}", from, to, n);
  }
  return {};
}

}  // namespace jointer::test
