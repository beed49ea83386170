// Undoes moves of blocks, one node at a time, since the nodes of a block need not have been
// adjacent before the move.
//
// The last move is undone first. First, the nodes that return to a later position are moved, from
// the last to the first; then the nodes that return to an earlier position, from the first to the
// last. In this way, no node passes another node of its block, and every intermediate order is
// legal, because each pair of nodes is in an order that was legal before or after the move.

#include "core/schedule/trial_moves.h"

#include <algorithm>

namespace jointer {

std::vector<PlacedNode> placed_in(std::span<const NodeId> order, std::span<const NodeId> nodes) {
  std::vector<PlacedNode> placed;
  for (std::size_t place = 0; place < order.size() && placed.size() < nodes.size(); ++place)
    if (std::ranges::find(nodes, order[place]) != nodes.end())
      placed.push_back({order[place], place});
  return placed;
}

Result<void> TrialMoves::move(std::span<const NodeId> block, std::size_t gap) {
  std::vector<PlacedNode> before = placed_in(what_if_.order(), block);
  JOINTER_CHECK(what_if_.move(block, gap));
  moves_.push_back(std::move(before));
  return {};
}

void TrialMoves::undo() {
  const auto put_back = [this](const PlacedNode& was) {
    // In the order without this node, its old position is the number of the gap.
    [[maybe_unused]] const auto done = what_if_.move(std::span(&was.node, 1), was.place);
  };
  for (; !moves_.empty(); moves_.pop_back()) {
    const std::vector<PlacedNode>& before = moves_.back();
    std::vector<NodeId> nodes;
    for (const PlacedNode& was : before) nodes.push_back(was.node);
    // `now` lists the nodes in the same order as `before`.
    const std::vector<PlacedNode> now = placed_in(what_if_.order(), nodes);
    for (std::size_t i = before.size(); i-- > 0;)
      if (now[i].place < before[i].place) put_back(before[i]);
    for (std::size_t i = 0; i < before.size(); ++i)
      if (now[i].place > before[i].place) put_back(before[i]);
  }
}

}  // namespace jointer
