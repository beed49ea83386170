#include "core/schedule/placement_guess.h"

#include <algorithm>
#include <cstdlib>

#include "core/graph/group_argument.h"

namespace jointer {
namespace {

constexpr double kNotable = 0.01;

bool is_guessed(const Graph& graph, const ProcessGroup& group) {
  return group.ranks.size() > 1 && has_guessed_ranks(graph, group) && !assumed_stride(graph, group);
}

}  // namespace

bool PlacementGuess::matters() const {
  return static_cast<double>(std::abs(spread_ns - neighbors_ns)) >
         kNotable * static_cast<double>(neighbors_ns);
}

Result<PlacementGuess> guess_placement(const Graph& graph, const Analysis& analysis) {
  PlacementGuess guess{.neighbors_ns = analysis.simulation.step_ns(),
                       .spread_ns = analysis.simulation.step_ns()};
  Assumptions spread = graph.assumptions();
  for (std::size_t i = 0; i < graph.group_count(); ++i) {
    const ProcessGroup& group = graph.group(GroupId(i));
    if (!is_guessed(graph, group)) continue;
    guess.groups.emplace_back(i);
    spread.named.emplace(stride_name(graph.text(group.name)),
                         analysis.options.estimator.gpus_per_node);
  }
  if (guess.groups.empty()) return guess;
  Graph placed = graph;
  JOINTER_CHECK(placed.assume(spread));
  JOINTER_TRY(const std::unique_ptr<Estimator> estimator,
              make_estimator(analysis.options.estimator, analysis.memory.device()));
  std::vector<NodeCost> costs = analysis.costs;
  for (const NodeId node : graph.order())
    if (std::ranges::find(guess.groups, graph.node(node).group) != guess.groups.end()) {
      const std::int64_t host_ns = costs[node.index()].host_ns;
      costs[node.index()] = estimator->estimate(placed, node);
      if (analysis.compiled) costs[node.index()].host_ns = host_ns;
    }
  const SimulationOptions& options = analysis.options.simulation;
  guess.spread_ns = Simulation(graph, costs, options).step_ns();
  // The kernels of a compiled step do not run in the graph's order, so only the difference
  // between the two placements counts.
  if (analysis.compiled)
    guess.spread_ns += guess.neighbors_ns - Simulation(graph, analysis.costs, options).step_ns();
  return guess;
}

}  // namespace jointer
