#pragma once

// The decisions that a search for plans may make about each value. The top of plan_rules.cpp states
// the rules.

#include <vector>

#include "core/graph/graph.h"
#include "core/partition/plan_what_if.h"

namespace jointer {

class PlanRules {
 public:
  // `what_if` must outlive this object. `policies`: the user's, indexed by node id; may be empty.
  // `offload`: values may be offloaded without a policy that requires it.
  PlanRules(const PlanWhatIf& what_if, std::vector<MemoryPolicy> policies, bool offload)
      : what_if_(&what_if), policies_(std::move(policies)), offload_(offload) {}

  // The user's policy for the value.
  [[nodiscard]] MemoryPolicy policy(NodeId value) const {
    return value.index() < policies_.size() ? policies_[value.index()] : MemoryPolicy::none;
  }
  // True if a plan may have this decision for the value. Does not check that the graph allows it.
  [[nodiscard]] bool may(NodeId value, PlanAction action) const;
  // True if a plan may have `action` instead of the candidate's own, and the value can be
  // recomputed if that is the action.
  [[nodiscard]] bool may_change(const SaveCandidate& candidate, PlanAction action) const;

 private:
  const PlanWhatIf* what_if_;
  std::vector<MemoryPolicy> policies_;
  bool offload_;
};

}  // namespace jointer
