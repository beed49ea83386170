#include "views/inspector/storage_aliases.h"

#include <algorithm>

namespace jointer::views {
namespace {

constexpr std::size_t kMaxAliases = 500;

}  // namespace

std::vector<NodeId> storage_aliases(const Snapshot& snapshot, NodeId node, StorageId storage) {
  const Graph& graph = snapshot.graph;
  const auto is_in = [&](NodeId other) {
    const auto tensors = graph.tensors(other);
    return std::any_of(tensors.begin(), tensors.end(), [&](const Tensor& t) {
      return t.storage && graph.real_storage(t.storage) == storage;
    });
  };
  // Follow edges in both directions, since edges connect all nodes that share a storage.
  std::vector<NodeId> found{node};
  for (std::size_t i = 0; i < found.size() && found.size() < kMaxAliases; ++i) {
    const NodeId at = found[i];
    const auto visit = [&](NodeId other) {
      if (is_in(other) && std::find(found.begin(), found.end(), other) == found.end())
        found.push_back(other);
    };
    for (const NodeId input : graph.inputs(at)) visit(input);
    for (const NodeId user : snapshot.users.of(at)) visit(user);
  }
  found.erase(found.begin());
  std::ranges::sort(found, {}, [&](NodeId id) { return graph.position(id); });
  return found;
}

}  // namespace jointer::views
