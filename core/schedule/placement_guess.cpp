#include "core/schedule/placement_guess.h"

#include <algorithm>
#include <cstdlib>

#include "core/graph/group_argument.h"

namespace jointer {
namespace {

constexpr double kNotable = 0.01;

bool is_guessed(const Graph& graph, const ProcessGroup& group) {
  return group.ranks.size() > 1 && has_guessed_ranks(graph, group) &&
         !graph.assumptions().named.contains(stride_name(graph.text(group.name)));
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
              make_estimator(analysis.options.estimator, graph.main_device()));
  std::vector<NodeCost> costs = analysis.costs;
  for (const NodeId node : graph.order())
    if (std::ranges::find(guess.groups, graph.node(node).group) != guess.groups.end())
      costs[node.index()] = estimator->estimate(placed, node);
  guess.spread_ns = Simulation(graph, costs, analysis.options.simulation).step_ns();
  return guess;
}

}  // namespace jointer
