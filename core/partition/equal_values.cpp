// Groups equal values, as equal_values.h defines them.
//
// The position in a layer is the module's path without the layer's number, together with an index
// among the otherwise equal calls of the layer, since two matrix products in one module may play
// different roles.

#include "core/partition/equal_values.h"

#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "core/graph/layers.h"
#include "core/graph/module_tree.h"

namespace jointer {

EqualValues::EqualValues(const PairOrders& orders, const PlanTime& time)
    : group_(orders.size(), 0) {
  const Graph& graph = orders.graph();
  const ModuleTree modules(graph);
  const Layers layers(graph, modules);
  const std::vector<std::uint32_t> path = number_paths_in_any_layer(modules);
  using Kind =
      std::tuple<std::uint32_t, std::string_view, std::int64_t, std::int64_t, std::int64_t>;
  std::map<Kind, std::uint32_t> kinds;
  std::map<std::pair<std::int64_t, std::uint32_t>, std::uint32_t> seen;     // by layer and kind
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> groups;  // by kind and position
  for (Place p = 0; p < orders.size(); ++p) {
    if (!orders.has(p, PairOrders::is_call) || !orders.has(p, PairOrders::of_forward)) continue;
    const NodeId id = orders.node(p);
    const Node& node = graph.node(id);
    const std::uint32_t kind =
        kinds
            .try_emplace(Kind{path[modules.of(id).index()], graph.target(node),
                              graph.output_bytes(node), time.ns(p), time.flops(p)},
                         static_cast<std::uint32_t>(kinds.size()))
            .first->second;
    const std::int64_t layer = layers.of(id);
    const std::uint32_t position = layer == Layers::kNone ? 0 : seen[{layer, kind}]++;
    group_[p] = groups.try_emplace({kind, position}, static_cast<std::uint32_t>(groups.size()) + 1)
                    .first->second;
  }
}

}  // namespace jointer
