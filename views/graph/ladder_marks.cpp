#include "views/graph/ladder_marks.h"

#include <algorithm>

namespace jointer::views {
namespace {

constexpr std::size_t kMaxFlows = 40;

// The number of these nodes per row and side, including those in the rows below.
std::vector<std::array<std::int32_t, 2>> count_by_row(const Graph& graph, const Ladder& ladder,
                                                      std::span<const NodeId> nodes) {
  std::vector<std::array<std::int32_t, 2>> counts(ladder.rows().size());
  for (const NodeId id : nodes) {
    const int row = ladder.row_of(id);
    if (row < 0) continue;
    ++counts[static_cast<std::size_t>(row)][index_of(side_of(graph.node(id)))];
  }
  for (std::size_t i = counts.size(); i-- > 0;) {
    const int parent = ladder.row(static_cast<int>(i)).parent;
    if (parent < 0) continue;
    for (std::size_t side = 0; side < 2; ++side)
      counts[static_cast<std::size_t>(parent)][side] += counts[i][side];
  }
  return counts;
}

}  // namespace

bool LadderMarks::is_hit(NodeId node) const {
  return std::binary_search(hits.begin(), hits.end(), node);
}

void mark_hits(const Graph& graph, const Ladder& ladder, std::span<const NodeId> hits,
               LadderMarks& marks) {
  marks.hits.assign(hits.begin(), hits.end());
  marks.found = count_by_row(graph, ladder, hits);
}

bool LadderMarks::contains(NodeId node) const {
  return std::binary_search(nodes.begin(), nodes.end(), node);
}

LadderMarks make_marks(const Graph& graph, const Users& users, const Ladder& ladder,
                       const LadderLayout& layout, std::span<const NodeId> nodes, NodeId current) {
  LadderMarks marks;
  marks.selected = count_by_row(graph, ladder, nodes);
  marks.nodes.assign(nodes.begin(), nodes.end());
  if (ladder.row_of(current) < 0) return marks;
  marks.current = source_of(graph, current);
  marks.current_place = layout.place_of(ladder, graph, marks.current);
  marks.current_side = side_of(graph.node(marks.current));

  const auto add = [&](NodeId other, bool is_input) {
    if (marks.flows.size() >= kMaxFlows) return;
    const NodeId source = source_of(graph, other);
    const LadderPlace place = layout.place_of(ladder, graph, source);
    const LadderSide side = side_of(graph.node(source));
    if (place.item < 0 || (place == marks.current_place && side == marks.current_side)) return;
    const bool known = std::any_of(marks.flows.begin(), marks.flows.end(), [&](const auto& f) {
      return f.place == place && f.side == side && f.is_input == is_input;
    });
    if (known) return;
    const bool is_forward = side == LadderSide::forward;
    const LadderPlace from = is_forward ? place : marks.current_place;
    const LadderPlace to = is_forward ? marks.current_place : place;
    const bool has_rung = side != marks.current_side &&
                          std::ranges::any_of(layout.links(), [&](const LadderLink& link) {
                            return link.from == from && link.to == to;
                          });
    marks.flows.push_back({place, side, is_input, has_rung});
  };
  for (const NodeId input : graph.inputs(marks.current)) add(input, true);
  for (const NodeId user : users.of(marks.current)) add(user, false);
  return marks;
}

}  // namespace jointer::views
