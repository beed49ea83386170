#pragma once

// Improves a plan by changing single decisions. The top of plan_descent.cpp describes the search.

#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "core/graph/graph.h"
#include "core/partition/plan_limit.h"
#include "core/partition/plan_tuning.h"
#include "core/partition/plan_what_if.h"

namespace jointer {

class PlanDescent {
 public:
  struct Options {
    bool offload = true;  // values may be offloaded
    // Called before each plan; false ends the search.
    std::function<bool()> go_on;
  };
  // `joint` and `what_if` must outlive this. `joint`: the graph of `what_if`. Tags that are not
  // mere preferences are honored.
  PlanDescent(const Graph& joint, const PlanWhatIf& what_if, Options options)
      : joint_(joint), what_if_(what_if), options_(std::move(options)) {}

  // The plan after changing decisions one by one, as long as a change makes it better. `all`: tries
  // more changes (step 3), which takes longer.
  [[nodiscard]] TunedPlan improved(TunedPlan from, const PlanLimit& limit, bool all);

 private:
  struct Change {
    NodeId node;
    Keep to = Keep::recompute;
  };
  // Similar changes, in program order.
  using Group = std::vector<Change>;
  enum class Outcome : std::uint8_t { unknown, impossible, longer, higher, no_better, better };

  [[nodiscard]] std::vector<Group> groups(const SavePlan& plan) const;
  [[nodiscard]] bool may(const SaveCandidate& candidate, Keep to) const;
  Outcome attempt(const Change& change);
  // `all`: try each change of the group, if one has exceeded the limit.
  bool improve_by(const Group& group, bool all);

  const Graph& joint_;
  const PlanWhatIf& what_if_;
  Options options_;
  PlanLimit limit_ = PlanLimit::of_peak(0);
  TunedPlan best_;
  bool is_over_ = false;
};

}  // namespace jointer
