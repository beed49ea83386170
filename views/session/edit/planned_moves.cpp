#include "views/session/edit/planned_moves.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/counted.h"
#include "core/base/units.h"
#include "core/edit/moves.h"

namespace jointer::views {
namespace {

constexpr int kMaxRefused = 2;  // maximum number of refused nodes to give reasons for

}  // namespace

PlannedMoves::PlannedMoves(const Graph& graph, WhatIf& what_if, int direction)
    : graph_(graph),
      what_if_(what_if),
      moves_(what_if),
      direction_(direction),
      starts_(collective_starts(graph)) {}

PlannedMoves::Target PlannedMoves::to_best_place(std::optional<std::int64_t> peak_limit) {
  return
      [peak_limit](const WhatIf& what_if, const LegalRange& range, std::span<const NodeId> block) {
        const Result<RangePreview> preview = preview_moves(what_if, block);
        if (!preview) return range.current;
        const MovePreview moves(*preview, peak_limit.value_or(what_if.figures().peak_bytes));
        return std::max(moves.best_gap(), range.first);  // before that, no move
      };
}

void PlannedMoves::refuse(const std::string& sentences) {
  if (sentences.empty() || refused_ == kMaxRefused) return;
  ++refused_;
  refusal_ += refusal_.empty() ? sentences : " " + sentences;
}

std::vector<NodeId> PlannedMoves::block_of(NodeId node) {
  const bool is_default = is_start_or_wait(graph_, node) != are_chains_toggled_;
  if (!are_chains_moved_.value_or(is_default)) return {node};
  if (!users_) users_.emplace(graph_);
  return carry(graph_, *users_, node, carrying_direction(graph_, node)).block;
}

// A collective is hidden better if its start moves earlier or its wait later, so without a
// direction, only the constraints on these moves are named.
std::string PlannedMoves::why_not(NodeId node, const LegalRange& range) const {
  std::vector<std::string> sentences;
  const auto add = [&](const std::string& reason, NodeId other, DependencyKind kind,
                       std::string_view direction) {
    if (reason.empty()) return;
    sentences.push_back(reason);
    if (kind == DependencyKind::data && graph_.node(other).kind == NodeKind::call)
      sentences.push_back(fmt::format("Move {} {} first.", graph_.name(other), direction));
  };
  const Node& n = graph_.node(node);
  const bool is_earlier_asked = direction_ < 0 || (direction_ == 0 && !graph_.is_wait(n));
  const bool is_later_asked = direction_ > 0 || (direction_ == 0 && !graph_.is_collective_start(n));
  if (is_earlier_asked && range.current == range.first)
    add(earliest_reason(graph_, range), range.after, range.after_kind, "earlier");
  if (is_later_asked && range.current == range.last)
    add(latest_reason(graph_, range), range.before, range.before_kind, "later");
  return fmt::format("{}", fmt::join(sentences, " "));
}

void PlannedMoves::add(NodeId node, const Target& target) {
  std::vector<NodeId> block = block_of(node);
  const Result<LegalRange> range = what_if_.range(block);
  if (!range) return refuse(range.error().message);
  const BlockMove move{block, range->current, target(what_if_, *range, block)};
  if (move.to == move.from) return refuse(why_not(node, *range));
  const NodeId before = node_after(what_if_.order(), move);
  // Earlier moves may have changed the order of the block's nodes; keep the current one.
  std::ranges::transform(placed_in(what_if_.order(), block), block.begin(), &PlacedNode::node);
  // The title of a single move gives its distance in the graph's order.
  if (changes_.empty()) {
    const Result<Edit> edit = move_edit(graph_, block, before);
    if (!edit) return refuse(edit.error().message);
    first_title_ = edit->title;
  }
  if (const auto moved = moves_.move(block, move.to); !moved) return refuse(moved.error().message);
  MoveNodes change{.before = edit_name(graph_, before)};
  for (const NodeId id : block) change.nodes.push_back(edit_name(graph_, id));
  changes_.emplace_back(std::move(change));
  made_.push_back({std::move(block), move.from, move.to});
}

void PlannedMoves::redo() {
  // The same moves are legal in the same order.
  for (const BlockMove& made : made_)
    [[maybe_unused]] const auto done = moves_.move(made.block, made.to);
}

Edit PlannedMoves::edit(const std::string& how, std::size_t asked) const {
  Edit edit{.title = first_title_,
            .changes = changes_,
            .notes = rank_notes(graph_, starts_, collective_starts(graph_, what_if_.order()))};
  const std::size_t moved = changes_.size();
  if (moved > 1 || asked > 1)
    edit.title = moved >= asked ? fmt::format("Move {} {}", counted(moved, "node"), how)
                                : fmt::format("Move {} of {} {}",
                                              format_count(static_cast<std::int64_t>(moved)),
                                              counted(asked, "node"), how);
  return edit;
}

}  // namespace jointer::views
