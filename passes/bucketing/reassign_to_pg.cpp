// Moves FSDP's all-gathers to a twin of their process group, with the same ranks. The collectives
// of a process group run one after another on its stream, so the all-gather of the next layer's
// parameters waits for the reduce-scatter of the previous layer's gradients. With the twin, both
// can run concurrently.
//
// Steps. Find the groups: the given group, or the groups that both FSDP's all-gathers
// (fsdp_collectives.h) and FSDP's reduce-scatters use. Every all-gather in such a group then names
// the twin, whose name is the group's name with a suffix. The program that runs the graph creates
// the twin from the group's ranks.
//
// reassign_collective_pgs, upstream's current pass, does this for every group in which FSDP gathers
// parameters, even if FSDP does not reduce gradients in it, except groups whose names end with the
// suffix.
//
// Source: torchtitan: compiler_toolkit, reassign_to_pg_pass (removed upstream with that toolkit in
// May 2026); graph_trainer/fsdp_passes.py, reassign_collective_pgs_pass (0.3.0). Deviations:
// upstream's reassign_to_pg requires both groups as arguments, whereas here the pass can find them;
// in upstream's reassign_collective_pgs, torch creates and names the twin, whereas here its name is
// the group's name with a suffix.

#include <algorithm>
#include <map>

#include "core/base/counted.h"
#include "passes/bucketing/bucketing.h"
#include "passes/bucketing/fsdp_collectives.h"
#include "passes/support/chosen_groups.h"
#include "passes/support/group_twin.h"
#include "passes/support/parameters.h"

namespace jointer {
namespace {

bool is_all_gather(const Graph& graph, const Node& n) {
  return graph.is_collective_start(n) && graph.op(n).collective == CollectiveKind::all_gather &&
         group_argument(graph, n) != nullptr;
}

// The names of the groups in which FSDP gathers parameters or, if `reduces` is set, in which it
// gathers parameters and reduces gradients.
std::vector<StringId> fsdp_groups(const Graph& graph, bool reduces) {
  const Users users(graph);
  std::map<StringId, int> uses;
  for (const NodeId id : graph.order()) {
    const Node& n = graph.node(id);
    if (!graph.is_collective_start(n)) continue;
    const Argument* name = group_argument(graph, n);
    if (name == nullptr) continue;
    if (is_fsdp_all_gather(graph, id))
      uses[name->text()] |= 1;
    else if (is_fsdp_reduce_scatter(graph, users, id))
      uses[name->text()] |= 2;
  }
  std::vector<StringId> groups;
  for (const auto& [name, use] : uses)
    if (use == 3 || (use == 1 && !reduces)) groups.push_back(name);
  std::ranges::sort(groups, [&](StringId a, StringId b) { return graph.text(a) < graph.text(b); });
  return groups;
}

void reassign(Graph& graph, StringId source, std::string_view suffix, PassContext& context) {
  const std::string twin_name = fmt::format("{}{}", graph.text(source), suffix);
  const StringId twin = graph.intern(twin_name);
  const std::string group(graph.text(source));
  std::size_t moved = 0;
  const std::vector<NodeId> order(graph.order().begin(), graph.order().end());
  for (const NodeId id : order) {
    const Node& n = graph.node(id);
    if (!is_all_gather(graph, n)) continue;
    const Argument* name = group_argument(graph, n);
    if (name->text() != source) continue;
    move_to_twin(graph, id, twin, suffix);
    ++moved;
    context.decide(graph, id, "reassigned",
                   fmt::format("It runs in group {}, separate from the other collectives in {}.",
                               twin_name, graph.text(source)));
  }
  if (moved == 0) {
    context.decide("kept", fmt::format("Group {} has no all-gather.", group));
    return;
  }
  context.decide("reassigned",
                 fmt::format("{} in its twin {}. Every rank must create that group.",
                             counted(moved, fmt::format("all-gather of group {} runs", group),
                                     fmt::format("all-gathers of group {} run", group)),
                             twin_name));
}

Result<void> run_reassign_to_pg(Graph& graph, const Arguments& arguments, PassContext& context) {
  JOINTER_TRY(const std::string suffix, twin_suffix(arguments));
  std::vector<StringId> sources;
  if (arguments.has_value("group")) {
    JOINTER_TRY(sources, groups_called(graph, "group", arguments.text("group")));
  } else {
    sources = fsdp_groups(graph, true);
    if (sources.empty())
      context.decide("kept", "No group both gathers parameters and reduces gradients.");
  }
  for (const StringId source : sources) reassign(graph, source, suffix, context);
  JOINTER_CHECK(graph.finish());
  return context.report(1);
}

Result<void> run_on_all(Graph& graph, const Arguments& arguments, PassContext& context) {
  JOINTER_TRY(const std::string suffix, twin_suffix(arguments));
  std::vector<StringId> sources = fsdp_groups(graph, false);
  // Do not create twins of twins.
  const bool has_twins =
      std::erase_if(sources, [&](StringId name) { return graph.text(name).ends_with(suffix); }) > 0;
  if (sources.empty())
    context.decide("kept", has_twins ? "FSDP's all-gathers already run in twins of their groups."
                                     : "No group gathers FSDP parameters.");
  for (const StringId source : sources) reassign(graph, source, suffix, context);
  JOINTER_CHECK(graph.finish());
  return context.report(1);
}

}  // namespace

Pass reassign_collective_pgs() {
  return {
      .info = {.name = "reassign_collective_pgs",
               .summary = "Moves the all-gathers in every group that gathers FSDP parameters to a "
                          "twin, another group with the same ranks, so that they overlap with the "
                          "group's reduce-scatters.",
               .source = "torchtitan/experiments/graph_trainer/fsdp_passes.py",
               .stage = PassStage::bucketing,
               .parameters = {text("suffix", "_fsdp_extra",
                                   "Appended to the group's name for the twin.")},
               .is_idempotent = true},
      .run = run_on_all};
}

Pass reassign_to_pg() {
  return {
      .info = {.name = "reassign_to_pg",
               .summary = "Moves FSDP's all-gathers to a twin of their process group, another "
                          "group with the same ranks, so that they overlap with the group's "
                          "reduce-scatters (removed from torchtitan in May 2026; use "
                          "reassign_collective_pgs).",
               .source = "torchtitan/experiments/compiler_toolkit",
               .stage = PassStage::bucketing,
               .parameters =
                   {text("group", {},
                         "Name or description of the group; none: all groups in which FSDP "
                         "both gathers and reduces."),
                    text("suffix", "_all_gather", "Appended to the group's name for the twin.")},
               .is_idempotent = true},
      .run = run_reassign_to_pg};
}

}  // namespace jointer
