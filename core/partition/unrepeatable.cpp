// Finds the calls that must not be recomputed because of writes: a call that writes to memory, and
// a call that reads or returns memory that a later call writes to. Recomputed in the backward, the
// latter would read what was written, or return memory without the write. Views and getitem are
// exempt, as they neither read memory nor compute. Calls tagged as backward are exempt too, unless
// a write in the forward would overtake them (NodePlaces::overtaken_by).
//
// A functional joint graph writes only to its inputs, with copies at its end, so the rule concerns
// readers of those inputs. torch has no such rule. min_cut refuses graphs with other writes: if the
// written memory has views, nearly every cut is wrong.
//
// Cost: linear in the edges.

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
        !op.is_view && !op.is_getitem &&
        (writes.follow(id, id) || std::ranges::any_of(graph.inputs(id), [&](NodeId input) {
           return writes.follow(id, input);
         }));
    found[id.index()] = is_stale || writes.writes(id);
  }
  return found;
}

NodeId find_write_in_between(const Graph& graph) {
  for (const NodeId id : graph.order()) {
    const std::vector<NodeId> written = written_arguments(graph, graph.node(id));
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
