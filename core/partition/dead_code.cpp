// Eliminates dead code as torch.fx.Graph.eliminate_dead_code does when a model is compiled.
//
// From the last node to the first, a node without readers is erased unless it is a placeholder, the
// output, or impure. A call is not impure merely because it draws random numbers (impure_random is
// off wherever a tracing context is active). Subgraphs of higher-order operators are left alone.
//
// Cost: linear in the nodes.

#include "core/partition/dead_code.h"

namespace jointer {

bool is_impure(const Graph& graph, const Node& node) {
  if (node.kind != NodeKind::call) return false;
  const OperatorInfo& op = graph.op(node);
  if (op.has(OperatorTag::impure) || op.mutates) return true;
  // The operator table lacks profiler operators.
  if (op.space() == "profiler") return op.packet().starts_with("profiler._record_function_");
  // Impure if the operator that it runs is impure.
  if (op.name == "auto_functionalized" || op.name == "auto_functionalized_v2") {
    const auto args = graph.args(node);
    return !args.empty() && args.front().kind == Argument::Kind::op &&
           describe_operator(graph.text(args.front().text())).has(OperatorTag::impure);
  }
  return false;
}

void eliminate_dead_code(Graph& graph) {
  graph.erase(find_dead(graph, [&](const Node& node) { return is_impure(graph, node); }));
}

}  // namespace jointer
