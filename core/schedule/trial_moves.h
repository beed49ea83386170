#pragma once

#include <span>
#include <vector>

#include "core/schedule/what_if.h"

namespace jointer {

// The nodes that are in `order`, sorted by their index in it. Cost: linear in the order.
struct PlacedNode {
  NodeId node;
  std::size_t place = 0;
};
std::vector<PlacedNode> placed_in(std::span<const NodeId> order, std::span<const NodeId> nodes);

// Moves of blocks in a what-if that can be undone, to find the metrics of an order without
// committing to it.
class TrialMoves {
 public:
  // `what_if` must outlive this object. Until the moves are undone, nothing else may change its
  // order.
  explicit TrialMoves(WhatIf& what_if) : what_if_(what_if) {}

  // Like WhatIf::move.
  Result<void> move(std::span<const NodeId> block, std::size_t gap);
  // Restores the order before the first move. The cost is that of the moves, one node at a time.
  void undo();

 private:
  WhatIf& what_if_;
  std::vector<std::vector<PlacedNode>> moves_;  // the positions of each block before its move
};

}  // namespace jointer
