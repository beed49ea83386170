#include "views/graph/group_layout.h"

#include <algorithm>

#include "core/layout/layered_layout.h"

namespace jointer::views {

GroupGraphs group_graphs(const Graph& graph, const Ladder& ladder, int leaf) {
  GroupGraphs graphs;
  for (const LadderSide side : kLadderSides) {
    const auto boxes = ladder.boxes(leaf, side);
    LayoutGraph& out = graphs[index_of(side)];
    out.nodes = static_cast<std::uint32_t>(boxes.size());
    std::vector<std::pair<NodeId, std::uint32_t>> indices;
    for (std::uint32_t i = 0; i < out.nodes; ++i) indices.emplace_back(boxes[i], i);
    std::sort(indices.begin(), indices.end());
    const auto index_in_group = [&](NodeId id) -> std::optional<std::uint32_t> {
      const auto found = std::lower_bound(indices.begin(), indices.end(), std::pair(id, 0U));
      if (found == indices.end() || found->first != id) return std::nullopt;
      return found->second;
    };
    for (std::uint32_t to = 0; to < out.nodes; ++to)
      for (const NodeId input : graph.inputs(boxes[to]))
        if (const auto from = index_in_group(source_of(graph, input)); from && *from < to)
          out.edges.push_back({*from, to});
    std::sort(out.edges.begin(), out.edges.end());
    out.edges.erase(std::unique(out.edges.begin(), out.edges.end()), out.edges.end());
  }
  return graphs;
}

std::vector<GroupLayout> lay_out_groups(std::span<const GroupGraphs> groups,
                                        const LayoutStyle& style, const DotOptions& dot) {
  std::vector<GroupLayout> layouts(groups.size());
  std::vector<LayoutGraph> for_dot;
  std::vector<std::size_t> asked;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const bool suits_dot = !dot.program.empty() && std::all_of(groups[i].begin(), groups[i].end(),
                                                               [](const LayoutGraph& graph) {
                                                                 return graph.nodes <= kMaxDotNodes;
                                                               });
    if (!suits_dot) continue;
    asked.push_back(i);
    for_dot.insert(for_dot.end(), groups[i].begin(), groups[i].end());
  }
  if (auto drawn = dot_layouts(for_dot, style, dot); drawn && !asked.empty()) {
    // dot does not limit the number of boxes in a rank, and wide ranks would be unreadable.
    const double widest = style.max_in_rank * (style.node_width + 2 * style.node_gap);
    for (std::size_t i = 0; i < asked.size() && 2 * i + 1 < drawn->size(); ++i) {
      Layout &forward = (*drawn)[2 * i], &backward = (*drawn)[2 * i + 1];
      if (std::max(forward.width, backward.width) <= widest)
        layouts[asked[i]] = {{std::move(forward), std::move(backward)}, true};
    }
  }
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (!layouts[i].is_by_dot)
      layouts[i].sides = {layered_layout(groups[i][0], style), layered_layout(groups[i][1], style)};
    layouts[i].edges = {groups[i][0].edges, groups[i][1].edges};
  }
  return layouts;
}

}  // namespace jointer::views
