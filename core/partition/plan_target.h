#pragma once

// Searches for the shortest list of changes after which the peak of a plan is within a limit. The
// top of plan_target.cpp describes the search.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/graph/graph.h"
#include "core/partition/plan_moves.h"
#include "core/partition/plan_what_if.h"

namespace jointer {

struct PlanTarget {
  static constexpr std::size_t kEffort = 1500;

  std::int64_t peak_bytes = 0;  // the limit
  MoveOptions moves;
  std::optional<std::size_t> at_most;  // maximum number of changes
  std::size_t effort = kEffort;        // maximum number of choices to evaluate
  std::function<bool()> go_on;         // called before each plan; false ends the search
};

struct ListedChange {
  PlanMove move;
  // The estimates of the plan with this change and those before it or, if these changes are refused
  // without later ones, of the plan before this change.
  PlanFigures after;
};

struct ChangeList {
  bool is_reached = false;
  // True if the list reaches the target and no shorter one does, as far as the reliefs show
  // (plan_target.cpp); false if that is not known.
  bool is_shortest = false;
  // The changes found that reach the target or, if none do, those with the lowest peak. Empty if
  // the plan is within the limit before any change.
  std::vector<ListedChange> changes;
  SavePlan plan;                // after all changes
  PlanFigures before, figures;  // of the plan before any change, and of `plan`

  // The bytes that changes can free, counted at the peak before any change. A change frees at most
  // the memory that its values occupy there.
  struct Count {
    // The bytes freed by the most effective changes, each in a different unit, in descending order.
    std::vector<std::int64_t> freed;
    std::int64_t tagged = 0;  // bytes at that peak of saved values that tags require to be saved
    // The smallest number of changes that together free `bytes`; nullopt if even all of them free
    // less.
    [[nodiscard]] std::optional<std::size_t> needed_for(std::int64_t bytes) const;
    // The sum of the first `length` values of `freed`.
    [[nodiscard]] std::int64_t sum(std::size_t length) const;
  };
  Count count;
};

// `joint` is the graph of `what_if`. Deterministic. Error (usage): same as emit_pair. Error
// (cancelled): the search was cancelled before it was done.
Result<ChangeList> find_changes(const Graph& joint, const PlanWhatIf& what_if, const SavePlan& plan,
                                const PlanTarget& target);

// The reason why the target is not reached, in one or two sentences; empty if it is reached: "With
// 3 tensors, at most 672 MiB can be freed: the largest occupies 224 MiB. Freeing 5.00 GiB requires
// at least 23 tensors."
std::string why_not_reached(const ChangeList& list, const PlanTarget& target);

}  // namespace jointer
