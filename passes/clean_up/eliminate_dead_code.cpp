// eliminate_dead_code: removes calls without readers, unless they are impure.
//
// Steps: in reverse program order, remove each call or constant without readers unless it is
// impure. A removed node no longer counts as a reader, so nodes that only removed nodes read are
// removed too. Calls are impure if they write, wait, check or print (core/partition/dead_code.h),
// except aten._assert_async if `drop_asserts` is set, and if they draw random numbers, unless
// `drop_random` is set.
//
// Cost: linear in the number of nodes.
// Source: eliminate_dead_code_pass in torchtitan 0.3.0's graph_trainer/remove_noop_passes.py, which
// determines the defaults. torch.fx.Graph.eliminate_dead_code keeps asserts and, while torch
// compiles, drops calls that draw random numbers: `drop_asserts=false,drop_random=true`.
// Deviations: subgraphs of higher-order operators stay unchanged.

#include "core/partition/dead_code.h"
#include "passes/clean_up/clean_up.h"
#include "passes/support/kept.h"
#include "passes/support/parameters.h"

namespace jointer {
namespace {

bool is_assert(const Graph& graph, const Node& n) {
  return n.kind == NodeKind::call && graph.op(n).packet() == "aten._assert_async";
}

bool draws(const Graph& graph, const Node& n) {
  return n.kind == NodeKind::call && graph.op(n).has(OperatorTag::random);
}

Result<void> run_eliminate_dead_code(Graph& graph, const Arguments& arguments,
                                     PassContext& context) {
  const bool drops_asserts = arguments.boolean("drop_asserts");
  const bool drops_random = arguments.boolean("drop_random");
  const auto is_dropped = [&](const Node& n) { return drops_asserts && is_assert(graph, n); };
  const std::vector<NodeId> dead = find_dead(graph, [&](const Node& n) {
    return (is_impure(graph, n) && !is_dropped(n)) || (draws(graph, n) && !drops_random);
  });
  for (const NodeId id : dead)
    context.decide(graph, id, "removed",
                   is_dropped(graph.node(id)) ? "a run-time check; no value depends on it"
                   : draws(graph, graph.node(id))
                       ? "nothing reads its result, and drop_random is set"
                       : "nothing reads its result, and it has no other effect");
  graph.erase(dead);
  return {};
}

}  // namespace

Pass eliminate_dead_code_pass() {
  return {
      .info = {.name = "eliminate_dead_code",
               .summary = "Removes calls without readers, unless they are impure.",
               .source = "torchtitan/experiments/graph_trainer/remove_noop_passes.py",
               .stage = PassStage::clean_up,
               .parameters = {flag("drop_asserts", true,
                                   "Also remove aten._assert_async and calls that only it reads."),
                              flag("drop_random", false,
                                   "Also remove calls without readers that draw random numbers, as "
                                   "torch does while it compiles.")},
               .is_idempotent = true},
      .run = with_kept_decision("Every call has a reader or another effect.",
                                run_eliminate_dead_code)};
}

}  // namespace jointer
