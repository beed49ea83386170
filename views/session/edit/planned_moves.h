#pragma once

// Combines moves of several nodes into one edit. Each move starts from the order that the previous
// moves produced. Does not use Qt.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/edit/edit.h"
#include "core/graph/users.h"
#include "core/schedule/trial_moves.h"
#include "core/schedule/what_if.h"
#include "views/session/edit/block_move.h"

namespace jointer::views {

class PlannedMoves {
 public:
  // Chooses the gap in `range` that the block moves to.
  using Target = std::function<std::size_t(const WhatIf& what_if, const LegalRange& range,
                                           std::span<const NodeId> block)>;

  // `what_if` must have the order of `graph` at first; each move is applied to it. Both must
  // outlive this object. `direction`: negative to move earlier, positive to move later; refusals
  // name the constraint in that direction or, for 0, in each direction that could help.
  PlannedMoves(const Graph& graph, WhatIf& what_if, int direction);

  // Inverts the default for nodes added from now on: the start and the wait of a collective move
  // with their chains (core/edit/moves.h), and other nodes alone.
  void toggle_chains() { are_chains_toggled_ = true; }
  // From now on, all nodes move with their chains, or all of them alone.
  void set_chains(bool are_moved) { are_chains_moved_ = are_moved; }
  // The target that chooses the fastest position with a peak of at most `peak_limit` or, if there
  // is none, the position with the lowest peak. The nearest position wins ties. nullopt limits
  // the peak to that before the move: for a compiled step, whose memory a what-if does not compute.
  [[nodiscard]] static Target to_best_place(std::optional<std::int64_t> peak_limit);
  void add(NodeId node, const Target& target);
  [[nodiscard]] bool empty() const { return changes_.empty(); }
  // Why nodes cannot move (the first two of them only), and what to move first; empty if no reason
  // is known.
  [[nodiscard]] const std::string& refusal() const { return refusal_; }
  // The moves as one edit. `how`: "one position earlier", "to the best position". `asked`: the
  // number of nodes that were to move.
  [[nodiscard]] Edit edit(const std::string& how, std::size_t asked) const;
  // Moves everything back in the what-if. Call `edit` before this, or `redo` after it.
  void undo() { moves_.undo(); }
  // Applies the moves again after `undo`, without asking the targets again. The what-if must have
  // the order that it had before the first move.
  void redo();

 private:
  void refuse(const std::string& sentences);
  [[nodiscard]] std::vector<NodeId> block_of(NodeId node);
  [[nodiscard]] std::string why_not(NodeId node, const LegalRange& range) const;

  const Graph& graph_;
  WhatIf& what_if_;
  TrialMoves moves_;
  int direction_;
  std::optional<Users> users_;  // computed when the first chain is needed
  bool are_chains_toggled_ = false;
  std::optional<bool> are_chains_moved_;     // nullopt for each node's default
  std::vector<std::vector<NodeId>> starts_;  // collective_starts before the moves
  std::vector<Change> changes_;
  std::vector<BlockMove> made_;  // one per change
  std::string refusal_, first_title_;
  int refused_ = 0;
};

}  // namespace jointer::views
