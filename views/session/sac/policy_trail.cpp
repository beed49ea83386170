#include "views/session/sac/policy_trail.h"

#include <algorithm>

#include "core/edit/select.h"

namespace jointer::views {

const std::vector<PolicyTrails::Set>& PolicyTrails::sets_of(const Graph& graph,
                                                            const DoneEditPtr& done) {
  const auto [at, is_new] = known_.try_emplace(done);
  if (!is_new) return at->second;
  for (const Change& change : done->edit.changes) {
    const auto* set = std::get_if<SetPolicy>(&change);
    if (set == nullptr) continue;
    for (const std::string& name : set->nodes)
      if (const NodeId node = graph.find(name)) at->second.push_back({node, set->policy});
    if (!set->nodes.empty()) continue;
    if (const auto nodes = select(graph, set->select))
      for (const NodeId node : *nodes) at->second.push_back({node, set->policy});
  }
  return at->second;
}

PolicyTrail PolicyTrails::follow(const Graph& opened, const Graph& now, const EditHistory& history,
                                 std::size_t count) {
  // After redo, added nodes may have different ids.
  if (!std::ranges::equal(order_, now.order())) {
    known_.clear();
    order_.assign(now.order().begin(), now.order().end());
  }
  PolicyTrail trail;
  trail.policies.assign(now.node_count(), MemoryPolicy::none);
  trail.edits.assign(now.node_count(), -1);
  // The policy with which an edit added a node is not known, so start from that in `now`.
  for (std::size_t i = 0; i < now.node_count(); ++i)
    trail.policies[i] = (i < opened.node_count() ? opened : now).node(NodeId(i)).policy;
  for (std::size_t e = 0; e < count; ++e)
    for (const Set& set : sets_of(now, history[e])) {
      trail.policies[set.node.index()] = set.policy;
      trail.edits[set.node.index()] = static_cast<std::int32_t>(e);
    }
  return trail;
}

}  // namespace jointer::views
