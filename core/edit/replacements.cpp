#include "core/edit/replacements.h"

namespace jointer {

std::unordered_map<std::string, NodeId> replacements(const Graph& before, const Graph& after,
                                                     const GraphDifference& difference) {
  std::unordered_map<std::string, NodeId> found;
  for (const NodeId is : difference.added) {
    const Node& node = after.node(is);
    if (!node.origin) continue;
    const std::string name = edit_name(after, node.origin);
    const NodeId was = before.find(name);
    if (!was || after.find(name)) continue;
    const Node& gone = before.node(was);
    const bool does_its_work = before.is_collective_start(gone)
                                   ? after.is_collective_start(node)
                                   : before.target(gone) == after.target(node);
    if (does_its_work) found.emplace(name, is);
  }
  return found;
}

}  // namespace jointer
