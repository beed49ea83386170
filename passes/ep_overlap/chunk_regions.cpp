// Finds chunked regions by their annotations. A bucket inherits the annotations of the calls that
// it replaces, but does not belong to a body. In a capture with graph_trainer's own metadata, a
// bucket has no `chunked_region_producer`; a bucket created by Jointer has an origin with the same
// annotations.

#include "passes/ep_overlap/chunk_regions.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/glob.h"

namespace jointer {
namespace {

constexpr const char* kProducer = "chunked_region_producer";

// True if the node was created from another one, other than by recomputation, and has the same
// annotations.
bool inherits(const Graph& graph, const Node& node) {
  return node.origin && !node.has(Node::recomputed) &&
         graph.text(node.custom) == graph.text(graph.node(node.origin).custom);
}

}  // namespace

Result<ChunkedRegions> find_chunked_regions(const Graph& graph, Annotations& marks,
                                            std::string_view module_pattern) {
  ChunkedRegions found;
  found.owners.resize(graph.node_count());
  std::map<std::pair<std::string, bool>, std::int32_t> numbers;
  const bool says_producer = std::ranges::any_of(
      graph.order(), [&](NodeId id) { return marks.find(id, kProducer) != nullptr; });
  for (const NodeId id : graph.order()) {
    if (marks.text(id, "chunked_region_role") != "body") continue;
    const Node& node = graph.node(id);
    if (says_producer && marks.find(id, kProducer) == nullptr) continue;
    if (inherits(graph, node)) continue;
    const std::string root = marks.text(id, "chunked_region_fqn");
    const OrderedJson* chunk = marks.find(id, "chunk_id");
    if (root.empty() || chunk == nullptr || !chunk->is_number_integer() ||
        (*chunk != 0 && *chunk != 1))
      return fail(Error::Kind::usage,
                  "{} is marked as part of a chunk's body, but the chunk is unknown; its "
                  "annotations (`custom`) must contain chunked_region_fqn and a chunk_id of 0 or 1",
                  graph.name(id));
    if (!glob_matches(module_pattern, root)) continue;
    const OrderedJson* said = marks.find(id, "chunked_region_is_backward");
    const bool is_backward =
        said != nullptr && said->is_boolean() ? said->get<bool>() : runs_in_backward(graph, node);
    const auto [at, is_new] =
        numbers.try_emplace({root, is_backward}, static_cast<std::int32_t>(found.regions.size()));
    if (is_new) found.regions.push_back({.root = root, .is_backward = is_backward, .bodies = {}});
    const auto which = chunk->get<std::int32_t>();
    found.regions[static_cast<std::size_t>(at->second)]
        .bodies[static_cast<std::size_t>(which)]
        .push_back(id);
    found.owners[id.index()] = {at->second, which};
  }
  return found;
}

}  // namespace jointer
