#include "core/graph/layers.h"

#include <algorithm>
#include <charconv>
#include <set>

namespace jointer {

namespace {

// The layer number in a path, and the segment that holds it.
struct LayerSegment {
  std::int64_t layer = Layers::kNone;
  std::size_t first = 0, size = 0;
};

LayerSegment find_layer(std::string_view path) {
  bool follows_layers = false;
  for (std::size_t first = 0; first < path.size();) {
    const std::size_t end = std::min(path.find('.', first), path.size());
    const std::string_view segment = path.substr(first, end - first);
    if (follows_layers) {
      std::int64_t layer = 0;
      const char* const last = segment.data() + segment.size();
      const auto [stop, error] = std::from_chars(segment.data(), last, layer);
      if (error == std::errc() && stop == last && layer >= 0) return {layer, first, segment.size()};
    }
    follows_layers = segment == "layers";
    first = end + 1;
  }
  return {};
}

}  // namespace

std::int64_t layer_of_path(std::string_view path) {
  return find_layer(path).layer;
}

std::string path_in_layers(std::string_view path) {
  const LayerSegment found = find_layer(path);
  std::string text(path);
  if (found.layer != Layers::kNone) text.replace(found.first, found.size, "*");
  return text;
}

Layers::Layers(const Graph& graph, const ModuleTree& modules) {
  std::vector<std::int64_t> by_module(modules.size(), kNone);
  for (std::size_t i = 0; i < by_module.size(); ++i)
    by_module[i] = layer_of_path(modules.module(ModuleId(i)).path);
  std::set<std::int64_t> seen;
  by_node_.assign(graph.node_count(), kNone);
  for (const NodeId id : graph.order()) {
    const std::int64_t layer = by_module[modules.of(id).index()];
    by_node_[id.index()] = layer;
    if (layer != kNone) seen.insert(layer);
  }
  count_ = seen.size();
  if (!seen.empty()) last_ = *seen.rbegin();
}

}  // namespace jointer
