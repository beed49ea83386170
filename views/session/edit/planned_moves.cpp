#include "views/session/edit/planned_moves.h"

#include <fmt/format.h>

#include "core/base/counted.h"
#include "core/base/units.h"
#include "core/edit/moves.h"
#include "views/session/edit/block_move.h"

namespace jointer::views {
namespace {

constexpr int kMaxRefused = 2;  // nodes whose reasons are given

}  // namespace

PlannedMoves::PlannedMoves(const Graph& graph, WhatIf& what_if, int direction)
    : graph_(graph),
      editor_(graph_),
      what_if_(what_if),
      direction_(direction),
      starts_(collective_starts(graph_)) {}

void PlannedMoves::refuse(const std::string& sentences) {
  if (sentences.empty() || refused_ == kMaxRefused) return;
  ++refused_;
  refusal_ += refusal_.empty() ? sentences : " " + sentences;
}

std::vector<NodeId> PlannedMoves::block_of(NodeId node) {
  if (is_start_or_wait(graph_, node) == are_chains_toggled_) return {node};
  if (!users_) users_.emplace(graph_);
  return carry(graph_, *users_, node, carrying_direction(graph_, node)).block;
}

// A collective hides more if its start moves earlier and its wait later, so without a direction
// only these sides count.
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
  const std::vector<NodeId> block = block_of(node);
  const Result<LegalRange> range = what_if_.range(block);
  if (!range) return refuse(range.error().message);
  const BlockMove move{block, range->current, target(what_if_, *range, block)};
  if (move.to == move.from) return refuse(why_not(node, *range));
  const Result<Edit> edit = move_edit(graph_, block, node_after(what_if_.order(), move));
  if (!edit) return refuse(edit.error().message);
  if (const auto done = editor_.apply(*edit); !done) return refuse(done.error().message);
  // The editor and the what-if check the same dependencies, so they agree.
  if (const auto moved = what_if_.move(block, move.to); !moved)
    return refuse(moved.error().message);
  changes_.insert(changes_.end(), edit->changes.begin(), edit->changes.end());
  last_title_ = edit->title;
}

Edit PlannedMoves::edit(const std::string& how, std::size_t asked) const {
  Edit edit{
      .title = last_title_, .by = {}, .changes = changes_, .notes = rank_notes(graph_, starts_)};
  const std::size_t moved = changes_.size();
  if (moved > 1 || asked > 1)
    edit.title = moved >= asked ? fmt::format("Move {} {}", counted(moved, "node"), how)
                                : fmt::format("Move {} of {} {}",
                                              format_count(static_cast<std::int64_t>(moved)),
                                              counted(asked, "node"), how);
  return edit;
}

}  // namespace jointer::views
