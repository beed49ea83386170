#pragma once

// `jointer sac --why`: the reason for a value's policy, the margin of the decision, and the changes
// that would reverse it.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/commands/options.h"
#include "core/partition/plan_margin.h"
#include "core/partition/solver_choices.h"
#include "core/policy/decider.h"
#include "core/policy/step_values.h"

namespace jointer::cli {

struct WhyAnswer {
  std::string name;
  // save, recompute, offload or "not needed"; for a node that is neither a call nor saved, its
  // kind: "a placeholder".
  std::string action;
  std::string reason;
  std::optional<Decider> decider;  // std::nullopt if there was nothing to decide
  std::optional<ValueMargin> margin;
  std::optional<SolverChoices> choices;
  std::optional<double> budget;        // torch's budget that resulted in the plan
  std::vector<std::string> sentences;  // the margin and the choices, for the user
};

// A plan, the object that evaluates it, and the request that compares it with the plans of other
// solvers.
struct ComparedPlan {
  const Graph& graph;  // of `what_if`
  const PlanWhatIf& what_if;
  SolverComparison::Request comparison;
};

// A plan of a joint graph, and the origin of the decisions about its values.
struct DecidedPlan {
  ComparedPlan plan;
  const std::vector<PlanReason>& reasons;  // by node
  Decider decider = Decider::partitioner;  // decides about values without a tag
  std::map<NodeId, Decider> changed_by;    // those whose decision was changed afterwards
  std::vector<Decider> tags;               // by node: the origin of its tag; may be empty

  [[nodiscard]] Decider decider_of(NodeId id) const;
};

// Explains the values with these names. Error (usage): one of the names belongs to no node.
Result<std::vector<WhyAnswer>> explain_values(const DecidedPlan& decided,
                                              const std::vector<std::string>& names);
// The decision of a plan about a value of a flat training step.
struct StepChoice {
  std::string purpose;  // such as "a peak of at most 40GiB"
  Decider by = Decider::search;
};
// The reasons for the values of a flat training step.
struct StepReasons {
  const Graph& tagged;                         // before the tags were applied
  const std::vector<StepValue>& values;        // after the tags were applied
  const std::vector<Decider>& tags;            // as for DecidedPlan
  const std::map<NodeId, StepChoice>& chosen;  // the values about which a plan decided
  // By node: the policies before a plan set its tags; empty if only tags decided.
  const std::vector<MemoryPolicy>& policies;

  [[nodiscard]] std::string text(const StepValue& value) const;
  [[nodiscard]] Decider decider(const StepValue& value) const;
  [[nodiscard]] bool was_untagged(const StepValue& value) const;
};
// Like explain_values, but for a flat training step. `plan.graph` is the step before the plan's
// tags were set. Error (usage): one of the names belongs to no node.
Result<std::vector<WhyAnswer>> explain_step(const StepReasons& reasons, const ComparedPlan& plan,
                                            const std::vector<std::string>& names);

Json to_json(const std::vector<WhyAnswer>& why, const Graph& graph);
void print_why(const std::vector<WhyAnswer>& why);

}  // namespace jointer::cli
