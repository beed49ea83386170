#include "core/edit/moves.h"

#include <algorithm>
#include <array>

#include "core/base/counted.h"

namespace jointer {
namespace {

// Casts, copies, reshapes, padding and getitem, by their names without an overload. Other views are
// recognized by their schemas.
constexpr std::array<std::string_view, 12> kCheap{
    "aten._to_copy", "aten.to",         "aten.clone",           "aten.contiguous",
    "aten.reshape",  "aten.view_copy",  "aten.constant_pad_nd", "aten._unsafe_view",
    "aten.alias",    "aten.lift_fresh", "_operator.getitem",    "prims.convert_element_type"};

std::string join(const Graph& graph, std::span<const NodeId> nodes) {
  std::string text;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    text += fmt::format("{}{}",
                        i == 0                  ? ""
                        : i + 1 == nodes.size() ? " and "
                                                : ", ",
                        graph.name(nodes[i]));
  return text;
}

std::string order_note(const Graph& graph, GroupId group) {
  return fmt::format(
      "Every rank must do the same: the collectives of group {} then start in a different order.",
      graph.group_label(group));
}

}  // namespace

bool is_cheap(const Graph& graph, const Node& node) {
  if (node.kind != NodeKind::call || node.input_count != 1) return false;
  const OperatorInfo& op = graph.op(node);
  if (op.collective != CollectiveKind::none || op.is_wait || op.mutates ||
      op.has(OperatorTag::random))
    return false;
  return op.is_view || op.has(OperatorTag::view_copy) ||
         std::ranges::find(kCheap, op.packet()) != kCheap.end() ||
         std::ranges::find(kCheap, op.name) != kCheap.end();
}

Direction carrying_direction(const Graph& graph, NodeId node) {
  return graph.is_wait(graph.node(node)) ? Direction::later : Direction::earlier;
}

Carried carry(const Graph& graph, NodeId node, Direction direction) {
  return carry(graph, Users(graph), node, direction);
}

Carried carry(const Graph& graph, const Users& users, NodeId node, Direction direction) {
  Carried carried{.block = {node}};
  if (direction == Direction::earlier) {
    const Node* at = &graph.node(node);
    while (at->input_count == 1 && is_cheap(graph, graph.node(graph.inputs(*at).front()))) {
      carried.block.push_back(graph.inputs(*at).front());
      at = &graph.node(carried.block.back());
    }
    std::reverse(carried.block.begin(), carried.block.end());
  } else {
    for (std::size_t i = 0; i < carried.block.size(); ++i)
      for (const NodeId user : users.of(carried.block[i]))
        if (is_cheap(graph, graph.node(user))) carried.block.push_back(user);
    std::ranges::sort(carried.block, {}, [&](NodeId id) { return graph.position(id); });
  }
  if (carried.block.size() == 1) return carried;
  std::vector<NodeId> others = carried.block;
  std::erase(others, node);
  constexpr std::size_t kNamed = 3;
  const bool one = others.size() == 1;
  const std::string_view does = direction == Direction::earlier ? one ? "feeds" : "feed"
                                : one                           ? "reads"
                                                                : "read";
  carried.sentence =
      others.size() > kNamed
          ? fmt::format("Also moved {} and {} more nodes, which {} the moved node.",
                        graph.name(others.front()), others.size() - 1, does)
          : fmt::format("Also moved {}, which {} the moved node.", join(graph, others), does);
  return carried;
}

bool is_start_or_wait(const Graph& graph, NodeId node) {
  const Node& n = graph.node(node);
  return graph.is_collective_start(n) || graph.is_wait(n);
}

Result<Edit> move_edit(const Graph& graph, std::span<const NodeId> nodes, NodeId before) {
  const auto in_block = [&](NodeId id) { return std::ranges::find(nodes, id) != nodes.end(); };
  if (nodes.empty()) return fail(Error::Kind::usage, "no nodes to move");
  if (in_block(before))
    return fail(Error::Kind::usage, "{} cannot be moved before itself", graph.name(before));
  MoveNodes move{.before = edit_name(graph, before)};
  for (const NodeId id : nodes) move.nodes.push_back(edit_name(graph, id));

  // The distance does not count the moved nodes. The title names the first start or wait among the
  // nodes, if there is one, because the others move along with it.
  const auto found =
      std::ranges::find_if(nodes, [&](NodeId id) { return is_start_or_wait(graph, id); });
  const NodeId main = found == nodes.end() ? nodes.front() : *found;
  const std::size_t from = graph.position(main), to = graph.position(before);
  std::size_t places = 0;
  for (std::size_t i = std::min(from, to); i < std::max(from, to); ++i)
    places += in_block(graph.order()[i]) ? 0 : 1;
  Edit edit{
      .title = fmt::format("Move {}{} {} {}", graph.name(main),
                           nodes.size() == 1   ? ""
                           : nodes.size() == 2 ? " and a node"
                                               : fmt::format(" and {} nodes", nodes.size() - 1),
                           counted(places, "position"), to < from ? "earlier" : "later"),
      .changes = {std::move(move)}};

  // Adds a note for each group in which a start moves past another start.
  std::vector<bool> noted(graph.group_count(), false);
  for (const NodeId id : nodes) {
    const Node& n = graph.node(id);
    if (!graph.is_collective_start(n) || !n.group || noted[n.group.index()]) continue;
    const std::size_t at = graph.position(id);
    for (std::size_t i = std::min(at, to); i < std::max(at, to); ++i) {
      const NodeId other = graph.order()[i];
      const Node& o = graph.node(other);
      if (in_block(other) || !graph.is_collective_start(o) || o.group != n.group) continue;
      noted[n.group.index()] = true;
      edit.notes.push_back(order_note(graph, n.group));
      break;
    }
  }
  return edit;
}

std::vector<std::vector<NodeId>> collective_starts(const Graph& graph) {
  return collective_starts(graph, graph.order());
}

std::vector<std::vector<NodeId>> collective_starts(const Graph& graph,
                                                   std::span<const NodeId> order) {
  std::vector<std::vector<NodeId>> starts(graph.group_count());
  for (const NodeId id : order)
    if (const Node& n = graph.node(id); graph.is_collective_start(n) && n.group)
      starts[n.group.index()].push_back(id);
  return starts;
}

std::vector<std::string> rank_notes(const Graph& graph,
                                    const std::vector<std::vector<NodeId>>& before) {
  return rank_notes(graph, before, collective_starts(graph));
}

std::vector<std::string> rank_notes(const Graph& graph,
                                    const std::vector<std::vector<NodeId>>& before,
                                    const std::vector<std::vector<NodeId>>& after) {
  std::vector<std::string> notes;
  for (std::size_t g = 0; g < after.size(); ++g) {
    const std::vector<NodeId> was = g < before.size() ? before[g] : std::vector<NodeId>{};
    if (was == after[g]) continue;
    const GroupId group(g);
    if (was.size() == after[g].size())
      notes.push_back(order_note(graph, group));
    else
      notes.push_back(fmt::format("Every rank must do the same: group {} has {} instead of {}.",
                                  graph.group_label(group), counted(after[g].size(), "collective"),
                                  was.size()));
  }
  return notes;
}

}  // namespace jointer
