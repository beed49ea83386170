#pragma once

// Moves of a block of nodes to another gap in program order, and the estimates for every gap in the
// block's legal range. Does not use Qt.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/graph/graph.h"
#include "core/schedule/what_if.h"

namespace jointer::views {

// A move of a block to another gap. Gaps are numbered as in core/schedule/legal_range.h.
struct BlockMove {
  std::vector<NodeId> block;  // in program order
  std::size_t from = 0, to = 0;
};

// The order after `move`. The move must not go to the end of `order`, since the last node is an
// output.
std::vector<NodeId> order_after(std::span<const NodeId> order, const BlockMove& move);

// The node directly after the moved block.
NodeId node_after(std::span<const NodeId> order, const BlockMove& move);

// The gap of a block right before `node` or, if that is in the block, right before the next node
// that is not.
std::size_t gap_before(std::span<const NodeId> order, std::span<const NodeId> block, NodeId node);

// "Moves past 2 collectives of group fsdp: every rank must do the same." Empty if no collective
// start in the block passes another collective start of its group. Only the first start that does
// is reported.
std::string reordering_text(const Graph& graph, std::span<const NodeId> order,
                            const BlockMove& move);

// The estimates for every gap in the block's legal range, like WhatIf::preview, except that those
// at the current gap are for the order as it is: only a move makes a block contiguous. If the first
// node is before the legal range, the result has one more gap at its start, which stands for no
// move.
Result<RangePreview> preview_moves(const WhatIf& what_if, std::span<const NodeId> block);

// The estimates for every gap in the legal range of a block.
struct MovePreview {
  RangePreview range;
  BestGaps best;

  MovePreview() = default;
  // `peak_limit`: the peak, in bytes, that `best.fastest_within` may not exceed.
  MovePreview(RangePreview preview, std::int64_t peak_limit);

  [[nodiscard]] std::size_t first() const { return range.range.first; }
  [[nodiscard]] std::size_t last() const { return range.range.last; }
  [[nodiscard]] std::size_t current() const { return range.range.current; }
  [[nodiscard]] const Figures& at(std::size_t gap) const { return range.at[gap - first()]; }
  [[nodiscard]] std::size_t clamp(std::size_t gap) const;
  // The fastest gap within the limit or, if there is none, the one with the lowest peak.
  [[nodiscard]] std::size_t best_gap() const { return best.fastest_within.value_or(best.min_peak); }
  // Returns true if all gaps have the same estimates.
  [[nodiscard]] bool is_flat() const;
  // The nearest gap in that direction (negative: earlier) whose estimates differ from those at
  // `gap`, or the last gap in that direction if there is none.
  [[nodiscard]] std::size_t next_change(std::size_t gap, int direction) const;
};

}  // namespace jointer::views
