// Joins a pair into a joint graph, so that a partitioner can decide again what is saved and
// recomputed. core/partition/join_pair.cpp describes the algorithm.

#include "core/base/counted.h"
#include "core/partition/join_pair.h"
#include "passes/sac/sac.h"

namespace jointer {
namespace {

Result<void> run_join(Graph& graph, const Arguments&, PassContext& context) {
  JOINTER_TRY(JoinedPair joined, join_with_plan(graph));
  context.decide("joined", fmt::format("{} of the backward recomputed values of the forward.",
                                       counted(joined.merged, "call")));
  for (const NodeId id : joined.plan.offloaded)
    context.decide(joined.joint, id, "on the device",
                   "The copies to the host and back are removed.");
  for (const NodeId id : joined.plan.redrawn)
    context.decide(joined.joint, id, "one call",
                   "In the pair, the backward drew the same random numbers again.");
  graph = std::move(joined.joint);
  return context.report(1);
}

}  // namespace

Pass join_pass() {
  return {
      .info = {.name = "join",
               .summary = "Joins a pair into a joint graph, which a partitioner can split again.",
               .source = "Jointer",
               .stage = PassStage::partition},
      .run = run_join};
}

}  // namespace jointer
