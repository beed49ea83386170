// Moves all-to-alls of expert parallelism to a twin of their process group, with the same ranks, if
// other collectives use the group, too. The collectives of a group run one after another on its
// stream; with the twin, both kinds can run concurrently.
//
// Steps. Find the groups that are used by both an all_to_all_single and another functional
// collective (all-gather, reduce-scatter, all-reduce). Every all_to_all_single in such a group then
// names the twin; other collectives stay in the group. Cost: linear in the number of nodes.
//
// Source: torchtitan 0.3.0, experiments/graph_trainer/ep_process_group_pass.py. Deviations:
//  - Groups are identified by name, because a graph contains nothing else that identifies them.
//    Upstream compares the group objects.
//  - The twin's name is the group's name with a suffix. Upstream uses the number that torch assigns
//    to the new group.
//  - The program that runs the graph creates the twin from the group's ranks.

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <utility>

#include "core/base/counted.h"
#include "core/graph/is_call_of.h"
#include "core/ops/collective_targets.h"
#include "passes/ep_overlap/ep_overlap.h"
#include "passes/support/group_twin.h"
#include "passes/support/parameters.h"

namespace jointer {
namespace {

// The numbers of all-to-alls and of other collectives that use a group.
struct Uses {
  std::size_t expert = 0, other = 0;
};

bool counts(const Graph& graph, const Node& n) {
  if (n.kind != NodeKind::call) return false;
  const std::string_view target = graph.target(n);
  return target == kAllGatherTarget || target == kReduceScatterTarget || target == kAllReduceTarget;
}

Result<void> run_isolate_ep_process_group(Graph& graph, const Arguments& arguments,
                                          PassContext& context) {
  JOINTER_TRY(const std::string suffix, twin_suffix(arguments));
  std::map<std::pair<PartId, std::string>, Uses> groups;
  for (const NodeId id : graph.order()) {
    const Node& n = graph.node(id);
    const bool is_expert = is_call_of(graph, n, kAllToAllTarget);
    if (!is_expert && !counts(graph, n)) continue;
    const Argument* name = group_argument(graph, n);
    if (name == nullptr) continue;
    Uses& uses = groups[{n.part, std::string(graph.text(name->text()))}];
    ++(is_expert ? uses.expert : uses.other);
  }
  const std::vector<NodeId> order(graph.order().begin(), graph.order().end());
  for (const NodeId id : order) {
    const Node& n = graph.node(id);
    if (!is_call_of(graph, n, kAllToAllTarget)) continue;
    const Argument* name = group_argument(graph, n);
    if (name == nullptr) continue;
    const std::string group(graph.text(name->text()));
    const Uses uses = groups[{n.part, group}];
    if (uses.other == 0) {
      context.decide(
          graph, id, "kept",
          fmt::format("No all-gather, reduce-scatter or all-reduce uses group {}.", group));
      continue;
    }
    const std::string twin = group + suffix;
    move_to_twin(graph, id, graph.intern(twin), suffix);
    context.decide(graph, id, "reassigned",
                   fmt::format("It runs in group {}, separate from {} in {}.", twin,
                               counted(uses.other, "other collective"), group));
  }
  for (const auto& [key, uses] : groups)
    if (uses.expert > 0 && uses.other > 0)
      context.decide(
          "reassigned",
          fmt::format("{} in its twin {}{}. Every rank must create that group.",
                      counted(uses.expert, fmt::format("all-to-all of group {} runs", key.second),
                              fmt::format("all-to-alls of group {} run", key.second)),
                      key.second, suffix));
  const auto is_moved = [](const Decision& each) { return each.action == "reassigned"; };
  if (std::ranges::none_of(context.decisions(), is_moved))
    context.decide("kept", context.decisions().empty()
                               ? "The graph has no all_to_all_single."
                               : "No all_to_all_single shares its group with an all-gather, a "
                                 "reduce-scatter or an all-reduce.");
  JOINTER_CHECK(graph.finish());
  return context.report(1);
}

}  // namespace

Pass isolate_ep_process_group_pass() {
  return {.info = {.name = "isolate_ep_process_group",
                   .summary = "Moves all-to-alls of expert parallelism to a separate process group "
                              "if they share theirs with other collectives.",
                   .source = "torchtitan/experiments/graph_trainer/ep_process_group_pass.py",
                   .stage = PassStage::bucketing,
                   .parameters = {text("suffix", "_ep_extra",
                                       "Appended to the group's name for the separate group.")},
                   .is_idempotent = true},
          .run = run_isolate_ep_process_group};
}

}  // namespace jointer
