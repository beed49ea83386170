#include "app/launch/place_names.h"

#include <fmt/core.h>

#include "core/open/open.h"

namespace jointer {

const Graph* PlaceNames::graph_of(int rank) {
  const std::pair paths(path_of_rank(request_.program.graph, rank),
                        path_of_rank(request_.program.backward, rank));
  if (const auto known = graphs_.find(paths); known != graphs_.end()) return known->second.get();
  auto graph =
      open_graph({.path = paths.first, .backward = paths.second, .index = request_.graph_index});
  auto& kept = graphs_[paths];
  if (graph) kept = std::make_unique<Graph>(*std::move(graph));
  return kept.get();
}

NodePlace PlaceNames::find(int rank, std::int64_t position) {
  if (position < 0) return {};
  const Graph* graph = graph_of(rank);
  if (graph == nullptr || static_cast<std::uint64_t>(position) >= graph->order().size())
    return {fmt::format("node {}", position), ""};
  const NodeId id = graph->order()[static_cast<std::size_t>(position)];
  const Node& node = graph->node(id);
  NodePlace place{std::string(graph->name(id)), ""};
  if (graph->is_collective_start(node)) {
    place.collective = place.node;
  } else if (graph->is_wait(node)) {
    const NodeId start = graph->collective_of_wait(node);
    place.collective = start ? std::string(graph->name(start)) : place.node;
  }
  return place;
}

}  // namespace jointer
