#include "tests/support/passed_values.h"

#include "core/partition/joint_parts.h"

namespace jointer {

std::vector<PassedValue> passed_values(const Graph& pair) {
  std::vector<PassedValue> found;
  if (!pair.is_pair()) return found;
  // A result may be saved as well, so check that the backward receives it.
  std::vector<bool> is_given(pair.node_count(), false);
  for (const NodeId id : pair.order())
    if (const Node& node = pair.node(id); node.part == PartId(1) && node.partner)
      is_given[node.partner.index()] = true;
  for (const OutputEntry& entry : pair.part(PartId(0)).outputs) {
    if (!entry.node || entry.role != Role::saved || !is_given[entry.node.index()]) continue;
    const Node& node = pair.node(entry.node);
    found.push_back({.node = entry.node,
                     .bytes = pair.output_bytes(node),
                     .is_input = node.kind == NodeKind::placeholder,
                     .is_symbol = is_symbol(pair, node)});
  }
  return found;
}

Result<SavePlan> plan_of_pair(const Graph& joint, const Graph& pair) {
  if (!pair.is_pair()) return fail(Error::Kind::usage, "the graph is not a forward/backward pair");
  SavePlan plan;
  for (const PassedValue& each : passed_values(pair)) {
    const NodeId id = joint.find(pair.name(each.node));
    if (!id)
      return fail(Error::Kind::usage, "the forward saves {}, which the joint graph does not have",
                  pair.name(each.node));
    (each.is_symbol ? plan.saved_symbols : plan.saved).push_back(id);
  }
  return plan;
}

}  // namespace jointer
