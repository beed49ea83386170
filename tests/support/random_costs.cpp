#include "tests/support/random_costs.h"

#include <random>

namespace jointer::test {

std::vector<NodeCost> random_costs(const Graph& graph, std::uint64_t seed) {
  std::mt19937_64 chance(seed);
  const auto pick = [&](std::uint64_t max) { return static_cast<std::int64_t>(chance() % max); };
  std::vector<NodeCost> costs(graph.node_count());
  // From a CPU that is never late to one that always is.
  const std::uint64_t host = std::uint64_t{1} << pick(8);
  for (const NodeId id : graph.order()) {
    const Node& n = graph.node(id);
    if (n.kind != NodeKind::call) continue;
    NodeCost& cost = costs[id.index()];
    cost.host_ns = pick(host);
    if (graph.is_collective_start(n)) {
      cost.lane = NodeCost::Lane::collective;
      cost.ns = pick(300);
    } else if (!graph.is_wait(n) && pick(4) > 0) {
      cost.lane = NodeCost::Lane::compute;
      cost.ns = pick(100);
      cost.blocks_host = pick(12) == 0;
    }
  }
  return costs;
}

}  // namespace jointer::test
