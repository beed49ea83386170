#include "views/session/edit/planned_moves.h"

#include "core/base/units.h"
#include "core/edit/moves.h"
#include "views/session/edit/block_move.h"

namespace jointer::views {

PlannedMoves::PlannedMoves(const Graph& graph, WhatIf& what_if, int direction)
    : graph_(graph),
      editor_(graph_),
      what_if_(what_if),
      direction_(direction),
      starts_(collective_starts(graph_)) {}

void PlannedMoves::refuse(const std::string& sentence) {
  if (refusal_.empty()) refusal_ = sentence;
}

void PlannedMoves::carry_along() {
  users_.emplace(graph_);
}

std::vector<NodeId> PlannedMoves::block_of(NodeId node) const {
  if (!users_) return {node};
  return carry(graph_, *users_, node, carrying_direction(graph_, node)).block;
}

void PlannedMoves::add(NodeId node, const Target& target) {
  ++asked_;
  const std::vector<NodeId> block = block_of(node);
  const Result<LegalRange> range = what_if_.range(block);
  if (!range) return refuse(range.error().message);
  const BlockMove move{block, range->current, target(what_if_, *range, block)};
  if (move.to == move.from)
    return refuse(direction_ < 0 && move.from == range->first  ? earliest_reason(graph_, *range)
                  : direction_ > 0 && move.from == range->last ? latest_reason(graph_, *range)
                                                               : std::string());
  const Result<Edit> edit = move_edit(graph_, block, node_after(what_if_.order(), move));
  if (!edit) return refuse(edit.error().message);
  if (const auto done = editor_.apply(*edit); !done) return refuse(done.error().message);
  // The editor and the what-if check the same dependencies, so they agree.
  if (const auto moved = what_if_.move(block, move.to); !moved)
    return refuse(moved.error().message);
  changes_.insert(changes_.end(), edit->changes.begin(), edit->changes.end());
  last_title_ = edit->title;
}

Edit PlannedMoves::edit(const std::string& how) const {
  Edit edit{
      .title = last_title_, .by = {}, .changes = changes_, .notes = rank_notes(graph_, starts_)};
  const auto moved = static_cast<std::int64_t>(changes_.size());
  if (asked_ > 1)
    edit.title = moved == asked_ ? fmt::format("Move {} nodes {}", format_count(moved), how)
                                 : fmt::format("Move {} of {} nodes {}", format_count(moved),
                                               format_count(asked_), how);
  return edit;
}

}  // namespace jointer::views
