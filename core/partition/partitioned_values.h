#pragma once

// Lists the values that a partitioned graph (a pair or a flat training step) saves and recomputes.
//
// The graph shows the values that the backward reads from the forward, their storages, and the
// calls of the forward that the backward runs, with their cost. It does not show the alternatives:
// the backward of a pair lacks the calls that computed the saved values, and the graph's author may
// have decided by tags, by budgets or by hand. The rows are therefore read-only; `chain` is 0 for a
// saved value and 1 for a recomputed call, which counts only its own cost.

#include <span>
#include <vector>

#include "core/base/result.h"
#include "core/cost/estimator.h"
#include "core/cost/node_flops.h"
#include "core/graph/graph.h"
#include "core/partition/plan_what_if.h"

namespace jointer {

// Returns the rows in program order: saved and offloaded tensors that calls of the forward return,
// and recomputed calls. `bytes` counts storages on the main device, with the allocator's rounding,
// except those that the step keeps live anyway (inputs, constants and results of the forward); a
// storage counts for the first row in it. An offloaded value (ao.offload) is listed as the value
// itself. `costs`, `flops`: one per node, by id. Error (usage): `graph` is a joint graph, a single
// half or a subgraph. Cost: linear.
Result<std::vector<SaveCandidate>> partitioned_values(const Graph& graph,
                                                      std::span<const NodeCost> costs,
                                                      std::span<const Flops> flops);

// The totals of the rows of partitioned_values; the nested `figures` stays zero. A call that runs
// only in a pair's backward does not count as recomputed.
PlanFigures partitioned_figures(const Graph& graph, std::span<const SaveCandidate> decided);
// True if the call in a row runs twice; false for saved values.
bool runs_again(const Graph& graph, const Node& node);

// True for a copy to the host or back and for its wait: these move a value but do not recompute it.
bool moves_memory(const Graph& graph, const Node& node);

// The copy to the host or back that `wait` waits for; none for other waits and other nodes.
NodeId ended_transfer(const Graph& graph, const Node& wait);

}  // namespace jointer
