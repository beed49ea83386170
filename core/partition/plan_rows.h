#pragma once

// Lists the policy of each value that a call of the forward computes and that a plan saves,
// offloads or recomputes, so that the sums over the rows are the plan's estimates of bytes and
// time.

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/result.h"
#include "core/graph/graph.h"
#include "core/partition/plan_what_if.h"

namespace jointer {

// One value that a plan saves, offloads or recomputes.
struct PlanRow {
  NodeId node;
  PlanAction action = PlanAction::recompute;
  // Bytes on the device and on the host. A storage counts for the first saved value in it. For a
  // recomputed call, `saved_bytes` is the size of its generator state.
  std::int64_t saved_bytes = 0, offloaded_bytes = 0;
  // Time of the value's call if it runs a second time. If a call returns several values, its time
  // counts for the first of them that is recomputed.
  std::int64_t recompute_ns = 0;
  friend bool operator==(const PlanRow&, const PlanRow&) = default;
};

// The rows of a plan in program order. Error (usage): same as emit_pair.
Result<std::vector<PlanRow>> plan_rows(const PlanWhatIf& what_if, const SavePlan& plan);

// The rows of a pair or a flat training step in program order, from its partitioned_values. The row
// of a recomputed call has the node of the forward call that it repeats. `tagged`: the graph that
// contains the nodes of the rows; for a step whose tags were applied, the graph before that, with
// the same ids.
std::vector<PlanRow> plan_rows(const Graph& graph, std::span<const SaveCandidate> decided,
                               const Graph& tagged);

}  // namespace jointer
