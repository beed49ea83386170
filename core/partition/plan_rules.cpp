// States which decisions a search for plans may make. The relaxation, which also bounds the step
// time of every plan, and the search's changes of plans follow the same rules. Both may recompute
// random calls, with the states of their generators.
//
// Rules
//   - The user's policies allow what `allows` says: MUST_SAVE, MUST_RECOMPUTE and MUST_CPU_OFFLOAD
//     allow one action, and preferences allow all of them.
//   - Tags that are not among the user's policies, because a capture has them or a partitioner has
//     settled them (recompute_tags.cpp), do not constrain a search. For example, the partitioner
//     saves the results of all collectives, and recomputing some of them may be worthwhile.
//   - Even if values may not be offloaded, those whose policy requires it are.
//   - The result of an asynchronous call is neither saved nor offloaded, since it is not complete
//     before the wait.

#include "core/partition/plan_rules.h"

#include "core/partition/plan_state.h"

namespace jointer {

bool PlanRules::may(NodeId value, PlanAction action) const {
  const MemoryPolicy tag = policy(value);
  if (!allows(tag, action)) return false;
  if (action == PlanAction::recompute) return true;
  const PairOrders& orders = what_if_->state().orders;
  if (orders.has(orders.place(value), PairOrders::is_start)) return false;
  return action != PlanAction::offload || offload_ || tag == MemoryPolicy::must_cpu_offload;
}

bool PlanRules::may_change(const SaveCandidate& candidate, PlanAction action) const {
  return action != candidate.action && may(candidate.node, action) &&
         (action != PlanAction::recompute || candidate.chain > 0);
}

}  // namespace jointer
