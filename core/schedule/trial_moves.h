#pragma once

#include <span>
#include <vector>

#include "core/schedule/what_if.h"

namespace jointer {

// A node and its index in an order.
struct PlacedNode {
  NodeId node;
  std::size_t place = 0;
};
// Returns those of the nodes that occur in `order`, sorted by their index in it.
std::vector<PlacedNode> placed_in(std::span<const NodeId> order, std::span<const NodeId> nodes);

// Moves blocks in a WhatIf and can undo all of these moves. Use it to estimate an order without
// committing to it.
class TrialMoves {
 public:
  // `what_if` must outlive this object. Nothing else may change its order until the moves are
  // undone.
  explicit TrialMoves(WhatIf& what_if) : what_if_(what_if) {}

  // Like WhatIf::move.
  Result<void> move(std::span<const NodeId> block, std::size_t gap);
  // Restores the order from before the first move. Cost: that of moving each node back separately,
  // and of finding each block in the order.
  void undo();

 private:
  WhatIf& what_if_;
  std::vector<std::vector<PlacedNode>> moves_;  // the positions of each block before its move
};

}  // namespace jointer
