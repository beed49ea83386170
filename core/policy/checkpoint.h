#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/graph/graph.h"
#include "core/partition/plan_what_if.h"

namespace jointer {

// Checkpoints groups of calls, such as layers, as torch.utils.checkpoint does: everything that a
// group computes in the forward is recomputed, and the activations that it reads from outside are
// saved. Decisions about gathered parameters, and about results that the backward of other modules
// reads, do not change. `graph`: the graph of `what_if`.
// Returns the plan; PlanChange::refused lists the values of the groups that cannot be recomputed.
// Error (usage): the groups compute no activations, or none that can be recomputed.
Result<PlanChange> checkpoint(const Graph& graph, const PlanWhatIf& what_if, const SavePlan& plan,
                              std::span<const std::vector<NodeId>> groups);

// Returns the calls in each module, including its submodules, in the order of `paths` (`layers.3`).
// Error (usage): a module has no call in the graph.
Result<std::vector<std::vector<NodeId>>> calls_of_modules(const Graph& graph,
                                                          std::span<const std::string> paths);
// Returns the calls in each layer that contains one of these nodes, by ascending layer.
std::vector<std::vector<NodeId>> calls_of_layers(const Graph& graph, std::span<const NodeId> nodes);

}  // namespace jointer
