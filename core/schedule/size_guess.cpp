#include "core/schedule/size_guess.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "core/base/checked.h"
#include "core/graph/group_argument.h"
#include "core/schedule/assumed_step.h"

namespace jointer {
namespace {

constexpr double kNotableShare = 0.01;
constexpr std::int64_t kFewestRanks = 2, kFewestOfTwoNodes = 16;

// The world size of the job, which is the same for both halves of a pair.
std::optional<std::int64_t> world_size(const Graph& graph) {
  for (std::size_t p = 0; p < graph.part_count(); ++p)
    if (const auto size = graph.part(PartId(p)).world_size) return size;
  return std::nullopt;
}

}  // namespace

bool SizeGuess::matters() const {
  return static_cast<double>(std::abs(other_ns - default_ns)) >
         kNotableShare * static_cast<double>(default_ns);
}

Result<SizeGuess> guess_group_sizes(const Graph& graph, const Analysis& analysis) {
  SizeGuess guess{.default_ns = analysis.simulation.step_ns(),
                  .other_ns = analysis.simulation.step_ns()};
  const auto world = world_size(graph);
  if (world && *world <= kFewestRanks) return guess;
  const std::int64_t gpus_per_node = analysis.options.estimator.gpus_per_node;
  guess.other_ranks =
      world ? kFewestRanks : std::max(saturating_mul(gpus_per_node, 2), kFewestOfTwoNodes);
  Assumptions others = graph.assumptions();
  for (const UnsizedGroup& group : unsized_groups(graph)) {
    if (assumed_ranks(graph, group.group)) continue;
    guess.groups.push_back(group.group);
    others.named.emplace(ranks_name(group.name), guess.other_ranks);
  }
  if (guess.groups.empty()) return guess;
  JOINTER_TRY(guess.other_ns, step_if_assumed(graph, analysis, others, [&](const Node& node) {
                return graph.is_collective_start(node) && !known_group_size(graph, node) &&
                       !assumed_ranks(graph, node.group);
              }));
  return guess;
}

}  // namespace jointer
