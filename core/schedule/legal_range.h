#pragma once

// Finds the positions to which a block of nodes may be moved.
//
// A block consists of one or more nodes in the same part of the graph. Whatever the order in which
// they are given, they keep the graph's order among themselves and are adjacent after the move. A
// gap is a position in the order without the block: gap g is right before remaining node g.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "core/base/result.h"
#include "core/graph/dependencies.h"
#include "core/graph/graph.h"

namespace jointer {

struct LegalRange {
  // The block may be moved to any gap in [first, last].
  std::size_t first = 0, last = 0;
  // The block's current gap; if it is not contiguous, the legal gap nearest to its first node.
  std::size_t current = 0;
  // The nodes that bound the range: the block's `held_after` must stay after `after`, and its
  // `held_before` must stay before `before`. Both nodes of a side are null if only a placeholder or
  // an output, or nothing, bounds it.
  NodeId after, held_after, before, held_before;
  DependencyKind after_kind = DependencyKind::data, before_kind = DependencyKind::data;
  ControlReason after_reason = ControlReason::none, before_reason = ControlReason::none;
};

// Error (usage): the block is empty; a node is a placeholder, a constant or an output, or is not in
// the graph; the nodes are in different halves of a pair; or they cannot be adjacent because of a
// node between them. Cost: O(d log b) for the d direct dependencies of a block of b nodes,
// regardless of the graph's size.
Result<LegalRange> legal_range(const Graph& graph, const Dependencies& dependencies,
                               std::span<const NodeId> block);
// The same for another order of the graph's nodes. `positions`: the positions in that order,
// indexed by node id; for a node that is not in the order, at least the number of nodes.
Result<LegalRange> legal_range(const Graph& graph, const Dependencies& dependencies,
                               std::span<const NodeId> block,
                               std::span<const std::uint32_t> positions);

// Explains what bounds the range on one side: "Held by all_gather_77: earlier, wait_tensor_91 would
// read it before it exists." Empty if `after` or `before`, respectively, is null.
std::string earliest_reason(const Graph& graph, const LegalRange& range);
std::string latest_reason(const Graph& graph, const LegalRange& range);

}  // namespace jointer
