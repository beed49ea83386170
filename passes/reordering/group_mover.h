#pragma once

// Code shared by the passes that raise collectives and sink waits. They move one call at a time:
// the call and the calls that must move with it form a group, which swaps with its neighbors until
// something stops it. Each of the two passes decides which neighbors join the group and which stop
// it.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/pass/pass.h"
#include "passes/reordering/calls.h"
#include "passes/reordering/collective_moves.h"
#include "passes/reordering/live_order.h"
#include "passes/reordering/overlap_estimate.h"
#include "passes/support/iterative_moves.h"

namespace jointer {

class GroupMover {
 public:
  enum class Direction { earlier, later };

  virtual ~GroupMover() = default;
  GroupMover(const GroupMover&) = delete;
  GroupMover& operator=(const GroupMover&) = delete;

  // Moves every call for which `is_moved` returns true, as far as it can, stretch by stretch: from
  // first to last if calls move earlier, from last to first if they move later. The maximum in the
  // options counts these calls, even those that stay in place. Sets the graph's order and reports
  // the moves under `title`. Error (cancelled): the run was cancelled.
  Result<void> move_all(Graph& graph, std::string title, PassContext& context);

 protected:
  // The arguments must outlive this object. `unsafe` concerns collectives on the same stream.
  GroupMover(const Graph& graph, const Calls& calls, const IterativeOptions& options,
             LiveOrder& order, Direction direction);

  // Returns true if move_all should visit the call.
  [[nodiscard]] virtual bool is_moved(Call call) const = 0;
  // Begins a new group with this call. Returns the current overlap of the call's collective.
  virtual Overlap begin(Call call) = 0;
  // Handles the candidate by calling join(), change_places() or stop(). Returns true if the group
  // may move on.
  virtual bool meet(Call candidate) = 0;
  // Called before each candidate. Returns false if the group must stop.
  virtual bool may_go_on() { return true; }

  bool stop(std::string limit);
  void join(Call candidate);
  // Swaps the group with the candidate. If too many bytes would be live, undoes the swap, stops the
  // group and returns false.
  bool change_places(Call candidate);

  // True if the group depends on the candidate (if calls move earlier), or the candidate on the
  // group (if they move later).
  [[nodiscard]] bool is_tied(Call candidate) const { return tied_[candidate] == move_.call; }
  // True if the candidate is a start and the group contains another start on the same stream.
  [[nodiscard]] bool is_ordered(Call candidate) const;
  [[nodiscard]] bool is_in_stretch(Call call) const;
  [[nodiscard]] std::string_view name(Call call) const { return graph_.name(calls_.node(call)); }
  // A start in words.
  [[nodiscard]] std::string_view kind(Call start) const {
    return calls_.is_transfer(start) ? "a copy to or from the host" : "a collective";
  }

  const Calls& calls_;
  const IterativeOptions& options_;
  LiveOrder& order_;
  OverlapEstimate estimate_;
  Stretch stretch_;
  std::size_t first_ = 0;  // position of the group's first call
  CollectiveMove move_;

 private:
  CollectiveMove move(Call call);
  [[nodiscard]] bool is_hidden() const;
  [[nodiscard]] std::span<const Call> ties(Call member) const;
  void tie(Call member);

  const Graph& graph_;
  Direction direction_;
  std::vector<Call> tied_;  // by call: the last moved call whose group is tied to it
  std::int64_t allowed_ = 0;
  std::size_t count_ = 0;
};

}  // namespace jointer
