#pragma once

// What raising collectives and sinking waits have in common: one call after the other changes
// places with its neighbour, with a group of calls that go with it, until something stops it.
// Which neighbours join the group, and which stop it, the two passes say.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/pass/pass.h"
#include "passes/reordering/calls.h"
#include "passes/reordering/collective_moves.h"
#include "passes/reordering/live_order.h"
#include "passes/reordering/overlap_estimate.h"

namespace jointer {

struct MoveOptions {
  bool use_runtimes = false;  // estimates decide, too
  bool unsafe = false;        // collectives on one stream may overtake each other
  double extra_overlap = 0;   // by which share of itself a hidden collective has compute to spare
  double budget = 0;          // by which share of itself the peak may grow
  std::optional<std::int64_t> most;  // how many calls are moved
  OverlapEstimate::Multipliers multipliers;
};

// The parameter, where it was given.
std::optional<std::int64_t> optional_integer(const Arguments& arguments, std::string_view name);
// What collectives' and other calls' estimates are multiplied by: for both passes one pair.
OverlapEstimate::Multipliers multipliers_of(const Arguments& arguments);
std::vector<Parameter> multiplier_parameters();

class GroupMover {
 public:
  enum class Direction { earlier, later };

  virtual ~GroupMover() = default;
  GroupMover(const GroupMover&) = delete;
  GroupMover& operator=(const GroupMover&) = delete;

  // Moves every call that `is_moved`, in each stretch on its own: those that go earlier from left
  // to right, those that go later from right to left. The new order is the graph's, and what was
  // decided is reported under the title. Error: the run was cancelled.
  Result<void> move_all(Graph& graph, std::string title, PassContext& context);

 protected:
  // All of them outlive it.
  GroupMover(const Graph& graph, const Calls& calls, const MoveOptions& options, LiveOrder& order,
             Direction direction);

  [[nodiscard]] virtual bool is_moved(Call call) const = 0;
  // A new group, of this call alone: what is beside its collective now.
  virtual Overlap begin(Call call) = 0;
  // Looks at the candidate: join(), change_places() or stop(). Whether it goes on.
  virtual bool meet(Call candidate) = 0;
  // Whether it goes on although nothing was asked of the candidate yet.
  virtual bool may_go_on() { return true; }

  bool stop(std::string limit);
  void join(Call candidate);
  // False, with the places as they were, if more bytes would be live than may be.
  bool change_places(Call candidate);

  // The candidate depends on the group, or the group on it.
  [[nodiscard]] bool is_tied(Call candidate) const { return tied_[candidate] == move_.call; }
  // A start that the group has one of the same stream for.
  [[nodiscard]] bool is_ordered(Call candidate) const;
  [[nodiscard]] bool is_in_stretch(Call call) const;
  [[nodiscard]] std::string_view name(Call call) const { return graph_.name(calls_.node(call)); }

  const Calls& calls_;
  const MoveOptions& options_;
  LiveOrder& order_;
  OverlapEstimate estimate_;
  Stretch stretch_;
  std::size_t first_ = 0;  // where the group stands
  CollectiveMove move_;

 private:
  CollectiveMove move(Call call);
  [[nodiscard]] bool is_hidden() const;
  [[nodiscard]] std::span<const Call> ties(Call member) const;
  void tie(Call member);

  const Graph& graph_;
  Direction direction_;
  std::vector<Call> tied_;  // by call: the last one moved whose group was found to be tied to it
  std::int64_t allowed_ = 0;
  std::size_t count_ = 0;
};

}  // namespace jointer
