#include "core/graph/layers.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/base/number_text.h"

namespace jointer {

namespace {

// The layer number in a path, and its position there.
struct LayerSegment {
  std::int64_t layer = Layers::kNone;
  std::size_t begin = 0, end = 0;
};

LayerSegment layer_segment(std::string_view path) {
  bool follows_layers = false;
  for (std::size_t begin = 0; begin < path.size();) {
    const std::size_t end = std::min(path.find('.', begin), path.size());
    const std::string_view segment = path.substr(begin, end - begin);
    if (follows_layers)
      if (const auto layer = number_of<std::int64_t>(segment); layer && *layer >= 0)
        return {.layer = *layer, .begin = begin, .end = end};
    follows_layers = segment == "layers";
    begin = end + 1;
  }
  return {};
}

}  // namespace

std::int64_t layer_of_path(std::string_view path) {
  return layer_segment(path).layer;
}

std::string path_in_any_layer(std::string_view path) {
  const LayerSegment found = layer_segment(path);
  std::string general(path);
  if (found.layer != Layers::kNone) general.replace(found.begin, found.end - found.begin, "*");
  return general;
}

std::vector<std::uint32_t> number_paths_in_any_layer(const ModuleTree& modules) {
  std::map<std::string, std::uint32_t> numbers;
  std::vector<std::uint32_t> by_module(modules.size());
  for (std::size_t i = 0; i < by_module.size(); ++i)
    by_module[i] = numbers
                       .try_emplace(path_in_any_layer(modules.module(ModuleId(i)).path),
                                    static_cast<std::uint32_t>(numbers.size()))
                       .first->second;
  return by_module;
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
