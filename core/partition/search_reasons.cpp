#include "core/partition/search_reasons.h"

#include "core/base/units.h"
#include "core/partition/plan_state.h"

namespace jointer {
namespace {

using ReasonKind = PlanReason::Kind;

// Describes the decision about a value and the costs that were weighed.
std::string weighed(const PlanWhatIf::State& state, const SaveCandidate& value,
                    const std::string& found_by) {
  const Place place = state.orders.place(value.node);
  const std::string bytes = format_bytes(value.bytes), time = format_ns(value.recompute_ns);
  const bool can_recompute = value.chain > 0;
  const std::string why_not = can_recompute ? "" : state.recomputable.why_not(place);
  switch (value.action) {
    case PlanAction::offload:
      return fmt::format("{} offloads it: copying {} takes {} each way, and {}", found_by,
                         format_bytes(state.graph.output_bytes(state.graph.node(value.node))),
                         format_ns(state.time.copy_cost(place).ns),
                         can_recompute ? "recomputing it would take " + time : why_not);
    case PlanAction::save:
      if (!can_recompute) return fmt::format("{} saves it: {}", found_by, why_not);
      if (value.bytes == 0)
        return fmt::format("{} saves it: its memory is occupied anyway", found_by);
      return fmt::format("{} saves it: recomputing it would free {} for {}", found_by, bytes, time);
    case PlanAction::recompute:
      break;
  }
  if (value.bytes == 0) return fmt::format("{} recomputes it from saved values", found_by);
  return fmt::format("{} recomputes it: that frees {} for {}", found_by, bytes, time);
}

}  // namespace

Result<std::vector<PlanReason>> search_reasons(const PlanWhatIf& what_if, const SavePlan& plan,
                                               std::span<const MemoryPolicy> policies,
                                               const std::string& found_by) {
  const PlanWhatIf::State& state = what_if.state();
  std::vector<PlanReason> reasons(state.graph.node_count());
  for (const auto* saved : {&plan.saved, &plan.saved_symbols})
    for (const NodeId id : *saved)
      if (state.graph.node(id).kind == NodeKind::placeholder)
        reasons[id.index()] = {ReasonKind::input, {}, "an input of the graph"};
  JOINTER_TRY(const std::vector<SaveCandidate> candidates, what_if.candidates(plan));
  for (const SaveCandidate& value : candidates) {
    const std::size_t index = value.node.index();
    const MemoryPolicy policy = index < policies.size() ? policies[index] : MemoryPolicy::none;
    reasons[index] =
        policy != MemoryPolicy::none && action_of(policy) == value.action
            ? PlanReason{ReasonKind::tagged, {}, fmt::format("tagged {}", to_string(policy))}
            : PlanReason{ReasonKind::searched, {}, weighed(state, value, found_by)};
  }
  return reasons;
}

}  // namespace jointer
