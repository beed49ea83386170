// A call of the forward cannot be made again if it writes, or if it reads or returns what a later
// call writes to: in the backward it would find the result of that write, or lack it. Views and
// getitem are not meant, they neither read nor make anything.
//
// A joint graph that is functional writes to its inputs alone, by copies at its end: the rule is
// then about what reads those inputs. Torch has no such rule. Graphs that write in between are not
// cut at all: with a view of what is written to, nearly every place for a cut is a wrong one. Cost:
// linear in the edges.

#include "core/partition/unrepeatable.h"

#include <algorithm>

#include "core/graph/effects.h"
#include "core/partition/last_writes.h"

namespace jointer {
std::vector<bool> find_unrepeatable(const Graph& graph, const NodePlaces& places) {
  const LastWrites writes(graph);
  if (!writes.any()) return {};
  std::vector<bool> found(graph.node_count(), false);
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (node.kind != NodeKind::call || (places.is_backward(node) && !places.overtaken_by(id)))
      continue;
    const OperatorInfo& op = graph.op(node);
    const bool is_stale =
        !op.is_view() && !op.is_getitem &&
        (writes.follow(id, id) || std::ranges::any_of(graph.inputs(id), [&](NodeId input) {
           return writes.follow(id, input);
         }));
    found[id.index()] = is_stale || writes.writes(id);
  }
  return found;
}

NodeId find_write_in_between(const Graph& graph) {
  std::vector<NodeId> written;
  for (const NodeId id : graph.order()) {
    written.clear();
    written_arguments(graph, graph.node(id), written);
    if (std::ranges::any_of(
            written, [&](NodeId to) { return graph.node(to).kind != NodeKind::placeholder; }))
      return id;
    const std::string_view target = graph.target(graph.node(id));
    if (!written.empty() && target != "aten.copy_.default" && target != "aten.set_.source_Tensor" &&
        target != "fsdp.copy_.default")
      return id;
  }
  return {};
}

}  // namespace jointer
