#pragma once

// What a plan comes to, and where it stands beside the joint graph that it cuts. No Qt.

#include <memory>
#include <vector>

#include "core/partition/plan_what_if.h"
#include "core/schedule/memory_timeline.h"

namespace jointer::views {

struct PlanOutcome {
  PlanFigures figures;
  std::vector<std::int64_t> profile;  // live bytes at every point of the pair
  // Of each step of the pair where it begins among the steps of the joint graph, and at last where
  // the last one ends: one more than steps, and never falling. Empty for a graph that is cut
  // already. Of a flat step: of it with its tags carried out, among the steps that it has. See
  // place_steps.
  std::vector<double> places;
};
using PlanOutcomePtr = std::shared_ptr<const PlanOutcome>;

// Where the pair's steps stand among those of the joint graph, so that both curves can be drawn on
// one axis. A call that both run in the same order stands where it ends in the joint graph; what
// runs between two such calls (what is made again, copies to the host, calls in another order)
// shares the room between them with the second one; so does a step without a node, which the joint
// graph does not have. Cost: n log n, n for orders that are alike.
std::vector<double> place_steps(const MemoryTimeline& joint, std::span<const NodeId> steps);

// The outcome of one plan, placed.
PlanOutcome place(PlanWhatIf::Outcome outcome, const MemoryTimeline& joint);

}  // namespace jointer::views
