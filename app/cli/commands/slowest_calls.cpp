#include "app/cli/commands/slowest_calls.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "app/cli/commands/table.h"
#include "core/base/units.h"
#include "core/bench/rank_measurement.h"
#include "core/bench/reached_rates.h"

namespace jointer::cli {

std::string slowest_calls(const BenchmarkResult& result, const Graph& graph,
                          const Analysis& analysis) {
  using enum Table::Align;
  constexpr std::size_t kMax = 10;
  const auto rank = std::ranges::find_if(result.ranks, [&](const RankResult& each) {
    return each.measured && !each.measured->nodes.empty() &&
           ran_same_graph(each, result.ranks.front());
  });
  if (rank == result.ranks.end()) return {};
  const Measurement measurement = measurement_of(graph, result, *rank);
  const auto is_shown = [&](const NodeTime& time) {
    if (time.own_ns <= 0 || time.position >= graph.order().size()) return false;
    const Node& node = graph.node(graph.order()[time.position]);
    return !graph.is_wait(node) && !was_local_copy(graph, measurement, node);
  };
  std::vector<NodeTime> times;
  std::ranges::copy_if(rank->measured->nodes, std::back_inserter(times), is_shown);
  if (times.empty()) return {};
  std::ranges::stable_sort(times, std::greater<>(), &NodeTime::own_ns);
  if (times.size() > kMax) times.resize(kMax);
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
               reached_rates(graph, analysis, measurement, id, time.own_ns)});
  }
  return fmt::format("\nrank {}\n{}", rank->rank, table.text());
}

}  // namespace jointer::cli
