#pragma once

// What a graph that is partitioned already saves and makes again: a pair, or a flat training step.
//
// It can tell what the backward reads of the forward, the storages that this holds, and which calls
// run again with what they take. It cannot tell what else could be decided: a pair has no calls for
// what its backward was given, and who made it may have chosen by tags, budgets or hand. So rows
// are for looking; `chain` is 0 for what is saved, and 1 for what is made again: each such call
// stands for itself.

#include <span>
#include <vector>

#include "core/base/result.h"
#include "core/cost/estimator.h"
#include "core/cost/node_flops.h"
#include "core/graph/graph.h"
#include "core/partition/plan_what_if.h"

namespace jointer {

// In program order. `bytes` are those of storages that the step does not have anyhow (as an input,
// or as what its forward returns), each with the first value in it. Of a value that spends time on
// the host (ao.offload) the row is the value. `costs`, `flops`: one a node, by id. Error (usage): a
// joint graph, or one half alone. Cost: linear.
Result<std::vector<SaveCandidate>> kept_values(const Graph& graph, std::span<const NodeCost> costs,
                                               std::span<const Flops> flops);

// What those rows add up to; `figures` within are left at 0. A pair's call that only the backward
// runs is no second run.
PlanFigures kept_figures(const Graph& graph, std::span<const SaveCandidate> kept);
// Whether what a row makes again runs twice.
bool runs_again(const Graph& graph, const Node& node);

// The copy to the host or back that a wait ends; none for another wait, or another node.
NodeId ended_transfer(const Graph& graph, const Node& wait);

}  // namespace jointer
