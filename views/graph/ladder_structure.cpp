// A node's hash combines its operator, its side (forward, backward, recomputed), its outputs, its
// group and its inputs: for an input in the same spot, the input's hash; for any other input, the
// input's outputs.
//
// A spot's hash is the sum of three parts: the hashes of its nodes; the hashes and names of its
// children; and, for each edge between two spots, both ends with their paths, if this is the
// innermost spot that contains both. Because these are sums, the order of execution and of lists
// does not matter.
//
// Hashes have 64 bits; with a few thousand spots, the probability of a collision is about 1e-12.

#include "views/graph/ladder_structure.h"

#include <functional>

#include "core/base/index.h"
#include "core/graph/value_hash.h"
#include "views/graph/ladder.h"

namespace jointer::views {
namespace {

std::uint64_t value_hash(const Graph& graph, const Node& node) {
  return joined_with_value(node.tensor_count, graph, node);
}

std::uint64_t call_hash(const Graph& graph, const Node& node) {
  const bool is_call = node.kind == NodeKind::call;
  std::uint64_t hash =
      is_call ? node.target.index() : 1'000'000U + static_cast<unsigned>(node.kind);
  hash = joined(hash, static_cast<std::uint64_t>(node.phase));
  hash = joined(hash, node.has(Node::recomputed) ? 1 : 0);
  hash = joined(hash, node.group ? node.group.index() + 1 : 0);
  return joined(hash, value_hash(graph, node));
}

class Structures {
 public:
  Structures(const Graph& graph, std::span<const SpotName> spots, std::span<const int> by_node)
      : graph_(graph),
        spots_(spots),
        by_node_(by_node),
        structures_(spots.size(), 0),
        nodes_(graph.node_count(), 0) {
    for (const SpotName& spot : spots) {
      names_.push_back(std::hash<std::string>{}(spot.name));
      depths_.push_back(spot.parent < 0 ? 0 : depths_[as_index(spot.parent)] + 1);
    }
  }

  std::vector<std::uint64_t> run() {
    for (const NodeId id : graph_.order()) visit(id);
    for (std::size_t i = spots_.size(); i-- > 0;)
      if (spots_[i].parent >= 0)
        structures_[as_index(spots_[i].parent)] += mixed(joined(structures_[i], names_[i]));
    return std::move(structures_);
  }

 private:
  void visit(NodeId id) {
    const int spot = by_node_[id.index()];
    if (spot < 0) return;
    const Node& node = graph_.node(id);
    std::uint64_t hash = call_hash(graph_, node);
    for (const NodeId input : graph_.inputs(node)) {
      const NodeId source = source_of(graph_, input);
      hash = joined(hash, by_node_[source.index()] == spot
                              ? nodes_[source.index()]
                              : value_hash(graph_, graph_.node(source)) + 1);
    }
    nodes_[id.index()] = hash;
    structures_[as_index(spot)] += mixed(hash);
    for (const NodeId input : graph_.inputs(node)) add_edge(source_of(graph_, input), id);
  }

  // An edge belongs to the innermost spot that contains both ends.
  void add_edge(NodeId from, NodeId to) {
    int a = by_node_[from.index()], b = by_node_[to.index()];
    if (a < 0 || a == b) return;
    std::uint64_t x = nodes_[from.index()], y = nodes_[to.index()];
    const auto climb = [&](int& spot, std::uint64_t& hash) {
      hash = joined(hash, names_[as_index(spot)]);
      spot = spots_[as_index(spot)].parent;
    };
    while (a != b) {
      if (b < 0 || (a >= 0 && depths_[as_index(a)] >= depths_[as_index(b)]))
        climb(a, x);
      else
        climb(b, y);
    }
    if (a >= 0) structures_[as_index(a)] += mixed(joined(x, y));
  }

  const Graph& graph_;
  std::span<const SpotName> spots_;
  std::span<const int> by_node_;
  std::vector<std::uint64_t> structures_;
  std::vector<std::uint64_t> nodes_;  // hashes by node
  std::vector<std::uint64_t> names_;  // hashes by spot
  std::vector<int> depths_;
};

}  // namespace

std::vector<std::uint64_t> spot_structures(const Graph& graph, std::span<const SpotName> spots,
                                           std::span<const int> spot_by_node) {
  return Structures(graph, spots, spot_by_node).run();
}

}  // namespace jointer::views
