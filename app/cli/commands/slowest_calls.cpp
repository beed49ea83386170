#include "app/cli/commands/slowest_calls.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "app/cli/commands/table.h"
#include "core/base/units.h"
#include "core/cost/achieved_rates.h"

namespace jointer::cli {

std::string slowest_calls(const BenchmarkResult& result, const Graph& graph,
                          const Analysis& analysis) {
  using enum Table::Align;
  constexpr std::size_t kMax = 10;
  const auto rank = std::ranges::find_if(result.ranks, [](const RankResult& each) {
    return each.measured && !each.measured->nodes.empty();
  });
  if (rank == result.ranks.end()) return {};
  const auto is_shown = [&](const NodeTime& time) {
    if (time.own_ns <= 0 || time.position >= graph.order().size()) return false;
    const Node& node = graph.node(graph.order()[time.position]);
    // Local copies replaced the collectives of a rank that ran alone.
    return !graph.is_wait(node) && !(result.request.solo && graph.is_collective_start(node));
  };
  std::vector<NodeTime> times;
  std::ranges::copy_if(rank->measured->nodes, std::back_inserter(times), is_shown);
  if (times.empty()) return {};
  std::ranges::stable_sort(times, std::greater<>(), &NodeTime::own_ns);
  if (times.size() > kMax) times.resize(kMax);
  const DeviceDescription* device =
      describes_gpu(analysis.device, result.device()) ? &analysis.device : nullptr;
  Table table({{"slowest calls", left},
               {"operator", left},
               {"time", right},
               {"estimate", right},
               {"reached", left}});
  for (const NodeTime& time : times) {
    const NodeId id = graph.order()[time.position];
    const Node& node = graph.node(id);
    table.add({std::string(graph.name(id)), std::string(graph.target(node)), format_ns(time.own_ns),
               format_ns(analysis.costs[id.index()].ns),
               rates_text(achieved_rates(graph, node, time.own_ns, device,
                                         analysis.options.estimator.gpus_per_node))});
  }
  return fmt::format("\nrank {}\n{}", rank->rank, table.text());
}

}  // namespace jointer::cli
