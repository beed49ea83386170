#include "tests/support/judged_plan.h"

#include "core/open/open.h"
#include "tests/support/must.h"
#include "tests/support/paths.h"

namespace jointer::test {

std::unique_ptr<Judged> judge(const Graph& graph) {
  auto partitioned = partition(graph);
  if (!partitioned) return nullptr;
  auto judged = std::make_unique<Judged>(Judged{*std::move(partitioned), {}, {}, nullptr});
  const Graph& joint = judged->partition.joint;
  const auto estimator = make_estimator({.name = "simple"});
  judged->costs = estimate_all(joint, **estimator);
  judged->flops.resize(joint.node_count());
  for (const NodeId id : joint.order())
    judged->flops[id.index()] = node_flops(joint, joint.node(id));
  judged->what_if = std::make_unique<PlanWhatIf>(
      joint, judged->costs, judged->flops, MemoryOptions{}, SimulationOptions{},
      PlanWhatIfOptions{.transfers = (*estimator)->transfer_costs()});
  if (!judged->what_if->figures(judged->partition.plan)) return nullptr;
  return judged;
}

const Judged& judged_sample() {
  static const std::unique_ptr<Judged> judged = judge(must(
      open_graph({.path = source_path("resources/samples/llama_debug_tp2_fsdp2.joint.json.zst")})));
  return *judged;
}

}  // namespace jointer::test
