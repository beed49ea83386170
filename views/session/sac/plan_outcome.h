#pragma once

// A plan's estimates and memory curve, aligned with its joint graph. Does not use Qt.

#include <memory>
#include <vector>

#include "core/partition/plan_what_if.h"
#include "core/schedule/memory_timeline.h"

namespace jointer::views {

struct PlanOutcome {
  PlanFigures figures;
  // Allocated bytes at every point of the pair or the training step.
  std::vector<std::int64_t> profile;
  // Where each step of the pair's memory timeline starts on the axis of the joint graph's timeline,
  // followed by the end of the last step. The values never decrease. Empty for a graph that is
  // already partitioned. For a flat training step, its timeline with the tags applied is placed on
  // the axis of the one without. See place_steps.
  std::vector<double> places;
};
using PlanOutcomePtr = std::shared_ptr<const PlanOutcome>;

// Aligns the steps of the pair's memory timeline with those of the joint graph's, so that both
// curves can be drawn on one axis. A call that both graphs run in the same order ends where it ends
// in the joint graph. Steps between two such calls (recomputation, copies to the host, reordered
// calls), and steps without a node, which the joint graph does not have, share the space between
// them with the second call. Cost: O(n log n), or O(n) for similar orders.
std::vector<double> place_steps(const MemoryTimeline& joint, std::span<const NodeId> steps);

// Aligns the outcome of a plan with the joint graph.
PlanOutcome place(PlanWhatIf::Outcome outcome, const MemoryTimeline& joint);

}  // namespace jointer::views
