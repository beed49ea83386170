#include "core/base/counted.h"
#include "core/edit/tag_list.h"
#include "core/policy/tagging.h"

namespace jointer {

Result<Edit> remove_tags(const Graph& graph) {
  TagList list;
  std::size_t count = 0;
  for (const NodeId id : graph.order()) {
    const Node& n = graph.node(id);
    if (n.policy == MemoryPolicy::none && !n.has(Node::has_ac_graph_id)) continue;
    if (n.kind != NodeKind::call) continue;
    list.add(edit_name(graph, id),
             {MemoryPolicy::none, {.kind = RegionChange::Kind::remove, .id = 0}});
    ++count;
  }
  return Edit{.title = fmt::format("Remove {}", counted(count, "tag")),
              .by = "remove_tags",
              .changes = list.take(),
              .notes = {}};
}

}  // namespace jointer
