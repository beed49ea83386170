#include "core/policy/tagged.h"

#include <algorithm>

#include "core/policy/sac_walk.h"
#include "core/policy/tagging.h"

namespace jointer {

std::optional<Edit> fsdp_tags_again(const Graph& before, const Graph& tagged) {
  const auto order = before.order();
  const auto it = std::find_if(order.begin(), order.end(), [&](NodeId id) {
    const Node& n = before.node(id);
    return n.policy != MemoryPolicy::none && n.ac_graph_id == kFsdpRegion;
  });
  if (it == order.end()) return std::nullopt;
  auto edit = fsdp_reshard_after_fwd(tagged, before.node(*it).policy != MemoryPolicy::must_save);
  if (!edit || edit->changes.empty()) return std::nullopt;
  return *std::move(edit);
}

Result<Graph> tagged_with(const Graph& graph, const Result<Edit>& edit) {
  if (!edit) return tl::unexpected(edit.error());
  Graph tagged = graph;
  JOINTER_CHECK(apply(tagged, *edit));
  if (const auto again = fsdp_tags_again(graph, tagged)) {
    JOINTER_CHECK(apply(tagged, *again));
  }
  return tagged;
}

}  // namespace jointer
