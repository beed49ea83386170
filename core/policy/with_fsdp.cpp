#include "core/policy/with_fsdp.h"

#include <algorithm>

#include "core/edit/append.h"
#include "core/policy/sac_walk.h"

namespace jointer {
MemoryPolicy fsdp_policy(const Graph& opened) {
  const auto order = opened.order();
  const auto tagged = std::find_if(order.begin(), order.end(), [&](NodeId id) {
    const Node& n = opened.node(id);
    return n.policy != MemoryPolicy::none && n.ac_graph_id == kFsdpRegion;
  });
  return tagged == order.end() ? MemoryPolicy::none : opened.node(*tagged).policy;
}

Result<Edit> apply_sac_with_fsdp(const Graph& graph, const SacOptions& options, MemoryPolicy fsdp) {
  JOINTER_TRY(Edit edit, apply_sac(graph, options));
  if (fsdp == MemoryPolicy::none) return edit;
  Graph tagged = graph;
  JOINTER_CHECK(apply(tagged, edit));
  JOINTER_TRY(const Edit gathered, fsdp_reshard_after_fwd(tagged, fsdp != MemoryPolicy::must_save));
  if (gathered.changes.empty()) return edit;
  edit.by += ',' + gathered.by;
  append(edit, gathered);
  edit.notes.push_back(gathered.title + ", as tagged in the graph as opened.");
  return edit;
}

Result<Edit> memory_policy_with_fsdp(const Graph& graph, const std::string& preset,
                                     const std::vector<std::string>& save_ops, MemoryPolicy fsdp) {
  return tag_with_memory_policy(graph, preset, save_ops, kOffloadBytes,
                                fsdp != MemoryPolicy::must_save);
}

std::vector<std::string> upstream_presets() {
  std::vector<std::string> names{kApplySac};
  for (const MemoryPolicyPreset& preset : memory_policy_presets()) names.push_back(preset.name);
  return names;
}

Result<Edit> preset_with_fsdp(const Graph& graph, const std::string& name, MemoryPolicy fsdp) {
  return name == kApplySac ? apply_sac_with_fsdp(graph, {}, fsdp)
                           : memory_policy_with_fsdp(graph, name, {}, fsdp);
}

}  // namespace jointer
