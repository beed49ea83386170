#pragma once

// Moves of a block of nodes to another gap in the program order. No Qt.

#include <span>
#include <string>
#include <vector>

#include "core/graph/graph.h"

namespace jointer::views {

// Gaps are numbered as in core/schedule/legal_range.h.
struct BlockMove {
  std::vector<NodeId> block;  // in program order
  std::size_t from = 0, to = 0;
};

// The order after a move.
std::vector<NodeId> order_after(std::span<const NodeId> order, const BlockMove& move);

// The node directly after the block once it has moved.
NodeId node_after(std::span<const NodeId> order, const BlockMove& move);

// "Moves past 2 collectives of group fsdp: every rank must do the same." Empty if no collective
// start in the block passes another collective start of its group. Cost: linear in the distance.
std::string reordering_text(const Graph& graph, std::span<const NodeId> order,
                            const BlockMove& move);

}  // namespace jointer::views
