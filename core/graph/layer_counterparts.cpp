#include "core/graph/layer_counterparts.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "core/graph/value_hash.h"

namespace jointer {
namespace {

// The features that counterparts share: the call's module in any layer, operator, process group and
// phase, whether it is recomputed, and a hash of its value.
using Kind = std::tuple<std::uint32_t, OperatorId, GroupId, Phase, bool, std::uint64_t>;

struct Call {
  NodeId node;
  std::uint32_t kind = 0, place = 0;
};

}  // namespace

LayerCounterparts::LayerCounterparts(const Graph& graph, const ModuleTree& modules)
    : layer_by_node_(graph.node_count(), Layers::kNone),
      family_by_node_(graph.node_count(), kNone) {
  const Layers layers(graph, modules);
  const std::vector<std::uint32_t> paths = number_paths_in_any_layer(modules);
  std::map<Kind, std::uint32_t> kinds;
  std::map<std::pair<std::int64_t, std::uint32_t>, std::uint32_t> counts;  // by layer and kind
  std::vector<Call> calls;
  for (const NodeId id : graph.order()) {
    const Node& n = graph.node(id);
    const std::int64_t layer = layers.of(id);
    if (n.kind != NodeKind::call || layer == Layers::kNone) continue;
    const Kind key{
        paths[modules.of(id).index()], n.target, n.group, n.phase, n.has(Node::recomputed),
        joined_with_value(0, graph, n)};
    const std::uint32_t kind =
        kinds.try_emplace(key, static_cast<std::uint32_t>(kinds.size())).first->second;
    layer_by_node_[id.index()] = layer;
    calls.push_back({id, kind, counts[{layer, kind}]++});
  }
  // Indices in families_, by kind, number of calls of that kind in the layer, and index among them.
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::uint32_t> numbers;
  for (const Call& call : calls) {
    const std::int64_t layer = layer_by_node_[call.node.index()];
    const auto [at, is_new] =
        numbers.try_emplace({call.kind, counts[{layer, call.kind}], call.place},
                            static_cast<std::uint32_t>(families_.size()));
    if (is_new) families_.emplace_back();
    families_[at->second].push_back(call.node);
    family_by_node_[call.node.index()] = at->second;
    layers_.push_back(layer);
  }
  for (std::vector<NodeId>& family : families_)
    std::ranges::sort(family, {}, [&](NodeId id) { return layer_by_node_[id.index()]; });
  std::ranges::sort(layers_);
  layers_.erase(std::unique(layers_.begin(), layers_.end()), layers_.end());
}

// Nodes added since construction do not belong to a layer.
std::int64_t LayerCounterparts::layer_of(NodeId node) const {
  return node.index() < layer_by_node_.size() ? layer_by_node_[node.index()] : Layers::kNone;
}

std::span<const NodeId> LayerCounterparts::of(NodeId node) const {
  if (layer_of(node) == Layers::kNone) return {};
  return families_[family_by_node_[node.index()]];
}

NodeId LayerCounterparts::in_layer(NodeId node, std::int64_t layer) const {
  const std::span<const NodeId> family = of(node);
  const auto at = std::ranges::lower_bound(family, layer, {},
                                           [&](NodeId id) { return layer_by_node_[id.index()]; });
  return at != family.end() && layer_of(*at) == layer ? *at : NodeId{};
}

}  // namespace jointer
