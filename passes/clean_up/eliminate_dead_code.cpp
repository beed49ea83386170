// eliminate_dead_code: calls whose results nobody reads go.
//
// Steps: from the end to the start; a call or constant without readers goes unless it is impure,
// and then does not count as a reader itself: what only it read goes, too. Impure is a call that
// writes, waits or prints (core/partition/dead_code.h), one that draws random numbers unless
// `drop_random`, and a check at run time (aten._assert_async) unless `drop_asserts`.
//
// Cost: linear in the nodes.
// Source: eliminate_dead_code_pass of torchtitan 0.3.0's graph trainer (remove_noop_passes.py),
// whose answers are the defaults. torch.fx.Graph.eliminate_dead_code itself keeps asserts, and
// while torch compiles it drops what draws: `drop_asserts=false,drop_random=true`. Deviations:
// subgraphs of higher-order operators are left as they are.

#include "passes/clean_up/eliminate_dead_code.h"

#include "core/partition/dead_code.h"
#include "passes/kept.h"
#include "passes/parameters.h"

namespace jointer {
namespace {

bool is_assert(const Graph& graph, const Node& n) {
  return n.kind == NodeKind::call && graph.op(n).packet() == "aten._assert_async";
}

bool draws(const Graph& graph, const Node& n) {
  return n.kind == NodeKind::call && graph.op(n).has(OperatorTag::random);
}

Result<void> run(Graph& graph, const Arguments& arguments, PassContext& context) {
  const bool drops_asserts = arguments.boolean("drop_asserts");
  const bool drops_random = arguments.boolean("drop_random");
  std::vector<bool> is_read(graph.node_count(), false);
  std::vector<NodeId> dead;
  const auto order = graph.order();
  for (std::size_t i = order.size(); i-- > 0;) {
    const NodeId id = order[i];
    const Node& n = graph.node(id);
    const bool is_dropped = drops_asserts && is_assert(graph, n);
    const bool stays = n.kind == NodeKind::placeholder || n.kind == NodeKind::output ||
                       is_read[id.index()] || (is_impure(graph, n) && !is_dropped) ||
                       (draws(graph, n) && !drops_random);
    if (stays) {
      for (const NodeId input : graph.inputs(n)) is_read[input.index()] = true;
      continue;
    }
    dead.push_back(id);
    context.decide(graph, id, "removed",
                   is_dropped ? "a check at run time that no value depends on"
                              : "nobody reads it, and it does nothing else");
  }
  graph.erase(dead);
  return {};
}

}  // namespace

Pass eliminate_dead_code_pass() {
  return {.info = {.name = "eliminate_dead_code",
                   .summary = "Removes calls whose results nobody reads.",
                   .source = "torchtitan/experiments/graph_trainer/remove_noop_passes.py",
                   .stage = PassStage::clean_up,
                   .parameters = {flag("drop_asserts", true,
                                       "Remove aten._assert_async too, and what only it read."),
                                  flag("drop_random", false,
                                       "Remove unread calls that draw random numbers, as torch "
                                       "does while it compiles.")},
                   .keeps_numerics = true,
                   .is_idempotent = true},
          .run = or_kept("Every call in it is read, or does something else.", run)};
}

}  // namespace jointer
