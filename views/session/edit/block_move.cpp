#include "views/session/edit/block_move.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>

#include "core/base/units.h"

namespace jointer::views {
namespace {

// Visits the nodes outside of the block, each with the gap before it, until `visit` returns false.
template <class Visit>
void visit_remaining(std::span<const NodeId> order, const BlockMove& move, Visit visit) {
  std::size_t gap = 0;
  for (const NodeId id : order) {
    if (std::find(move.block.begin(), move.block.end(), id) != move.block.end()) continue;
    if (!visit(gap++, id)) return;
  }
}

}  // namespace

std::vector<NodeId> order_after(std::span<const NodeId> order, const BlockMove& move) {
  std::vector<NodeId> result;
  result.reserve(order.size());
  visit_remaining(order, move, [&](std::size_t gap, NodeId id) {
    if (gap == move.to) result.insert(result.end(), move.block.begin(), move.block.end());
    result.push_back(id);
    return true;
  });
  return result;
}

NodeId node_after(std::span<const NodeId> order, const BlockMove& move) {
  NodeId after;
  visit_remaining(order, move, [&](std::size_t gap, NodeId id) {
    if (gap == move.to) after = id;
    return gap < move.to;
  });
  return after;
}

std::size_t gap_before(std::span<const NodeId> order, std::span<const NodeId> block, NodeId node) {
  std::size_t gap = 0;
  bool is_reached = false;
  for (const NodeId id : order) {
    is_reached = is_reached || id == node;
    if (std::find(block.begin(), block.end(), id) != block.end()) continue;
    if (is_reached) break;
    ++gap;
  }
  return gap;
}

std::string reordering_text(const Graph& graph, std::span<const NodeId> order,
                            const BlockMove& move) {
  for (const NodeId held : move.block) {
    if (!graph.is_collective_start(graph.node(held))) continue;
    const GroupId group = graph.node(held).group;
    const auto [first, last] = std::minmax({gap_before(order, move.block, held), move.to});
    std::int64_t passed = 0;
    visit_remaining(order, move, [&](std::size_t gap, NodeId id) {
      if (gap >= last) return false;
      if (gap >= first && graph.node(id).group == group &&
          graph.is_collective_start(graph.node(id)))
        ++passed;
      return true;
    });
    if (passed == 0) continue;
    return fmt::format("Moves past {} {}{}: every rank must do the same.", format_count(passed),
                       passed == 1 ? "collective" : "collectives",
                       group ? fmt::format(" of group {}", graph.group_label(group)) : "");
  }
  return {};
}

Result<RangePreview> preview_moves(const WhatIf& what_if, std::span<const NodeId> block) {
  JOINTER_TRY(RangePreview preview, what_if.preview(block));
  LegalRange& range = preview.range;
  const auto place_of_first = [&] {
    return static_cast<std::size_t>(std::ranges::find_first_of(what_if.order(), block) -
                                    what_if.order().begin());
  };
  // LegalRange::current is always in the range, so at the range's start it may stand for an earlier
  // gap.
  if (range.current == range.first && place_of_first() < range.first) {
    range.current = --range.first;
    preview.at.insert(preview.at.begin(), what_if.figures());
  } else {
    preview.at[range.current - range.first] = what_if.figures();
  }
  return preview;
}

MovePreview::MovePreview(RangePreview preview, std::int64_t peak_limit)
    : range(std::move(preview)), best(best_gaps(range, peak_limit)) {}

bool MovePreview::is_flat() const {
  return std::ranges::adjacent_find(range.at, std::not_equal_to()) == range.at.end();
}

std::size_t MovePreview::clamp(std::size_t gap) const {
  return std::clamp(gap, first(), last());
}

std::size_t MovePreview::next_change(std::size_t gap, int direction) const {
  const std::size_t end = direction < 0 ? first() : last();
  std::size_t next = gap;
  while (next != end) {
    next = direction < 0 ? next - 1 : next + 1;
    if (at(next) != at(gap)) break;
  }
  return next;
}

}  // namespace jointer::views
