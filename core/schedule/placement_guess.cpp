#include "core/schedule/placement_guess.h"

#include <algorithm>
#include <cstdlib>

#include "core/graph/group_argument.h"
#include "core/schedule/assumed_step.h"

namespace jointer {
namespace {

constexpr double kNotable = 0.01;

// True for each group that has more than one rank. If the size of a group is a guess, which
// guess_group_sizes reports, its placement is not counted as one.
std::vector<bool> have_several_ranks(const Graph& graph) {
  std::vector<bool> several(graph.group_count());
  for (std::size_t i = 0; i < several.size(); ++i)
    several[i] = graph.group(GroupId(i)).ranks.size() > 1;
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (!node.group || several[node.group.index()] || !graph.is_collective_start(node)) continue;
    const auto known = known_group_size(graph, node);
    several[node.group.index()] =
        (known ? known : assumed_ranks(graph, node.group)).value_or(1) > 1;
  }
  return several;
}

bool is_guessed(const Graph& graph, const ProcessGroup& group) {
  return has_guessed_ranks(graph, group) && !assumed_stride(graph, group);
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
  const std::vector<bool> several = have_several_ranks(graph);
  for (std::size_t i = 0; i < graph.group_count(); ++i) {
    const ProcessGroup& group = graph.group(GroupId(i));
    if (!several[i] || !is_guessed(graph, group)) continue;
    guess.groups.emplace_back(i);
    spread.named.emplace(stride_name(graph.text(group.name)),
                         analysis.options.estimator.gpus_per_node);
  }
  if (guess.groups.empty()) return guess;
  JOINTER_TRY(guess.spread_ns, step_if_assumed(graph, analysis, spread, [&](const Node& node) {
                return std::ranges::find(guess.groups, node.group) != guess.groups.end();
              }));
  return guess;
}

}  // namespace jointer
