#pragma once

// Improves a plan by changing single decisions. The top of plan_descent.cpp describes the search.

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "core/graph/graph.h"
#include "core/partition/plan_limit.h"
#include "core/partition/plan_rules.h"
#include "core/partition/plan_what_if.h"

namespace jointer {

class PlanDescent {
 public:
  struct Options {
    const PlanRules& rules;  // must outlive the descent
    // Called before each try of a change or of several together, even if its outcome is already
    // known; false ends the search.
    std::function<bool()> go_on;
    std::size_t exhaustive = 0;  // in step 3, try all changes if there are at most this many
  };
  // `joint` and `what_if` must outlive this object. `joint` is the graph of `what_if`.
  PlanDescent(const Graph& joint, const PlanWhatIf& what_if, Options options)
      : joint_(joint), what_if_(what_if), options_(std::move(options)) {}

  // The plan after changing decisions one by one, as long as a change makes it better. `all`: tries
  // more changes (step 3), which takes longer.
  [[nodiscard]] EvaluatedPlan improved(EvaluatedPlan from, const PlanLimit& limit, bool all);

 private:
  struct Change {
    NodeId node;
    PlanAction to = PlanAction::recompute;
    friend auto operator<=>(const Change&, const Change&) = default;
  };
  // Similar changes, in program order.
  using Group = std::vector<Change>;
  // Changes to try in each group. `some`: both ends and the middle of the group, and changes
  // between those whose outcomes differ. `most`: also all changes of a group in which one is
  // `higher`.
  enum class Tried : std::uint8_t { some, most, all };
  enum class Outcome : std::uint8_t { unknown, impossible, longer, higher, no_better, better };

  struct Judged {
    Outcome outcome = Outcome::unknown;
    std::optional<EvaluatedPlan> plan;  // if it is better
  };

  [[nodiscard]] std::vector<Group> groups(const SavePlan& plan) const;

  // Evaluates the best plan with all of `changes`, which must have the same `to`. Thread-safe.
  [[nodiscard]] Judged judge(std::span<const Change> changes) const;
  Outcome take(Judged& judged);
  Outcome attempt(const Change& change);
  Outcome attempt_together(std::span<const Change> changes);
  // Tries changes of the first group. The caller tries the other groups next, so some of their
  // changes are evaluated in the same batches. Returns true if the plan became better.
  bool improve_by(std::span<const Group> groups, Tried tried);

  const Graph& joint_;
  const PlanWhatIf& what_if_;
  Options options_;
  PlanLimit limit_ = PlanLimit::of_peak(0);
  EvaluatedPlan best_;
  bool is_over_ = false;
  // The changes that are likely to be tried next, in order, and the known outcomes of changes to
  // the best plan.
  std::vector<Change> expected_;
  std::map<Change, Judged> known_;
};

}  // namespace jointer
