// Computes an order that respects dependencies and otherwise follows the given order.
//
// Terms
//   pending  a stack of nodes to visit. At first, it contains the given order, with the first node
//            on top.
//   waiting  visited nodes without a position. Each waits for the last node that it needs and that
//            has no position yet. In this order, the nodes that edges require come after all
//            others.
//
// Steps. Visit the next pending node. If it needs a node that has no position yet, it waits for
// that node. Otherwise, it gets the next position, and the nodes that wait for it are pushed onto
// the stack, so that they are visited next in the order in which they began to wait. The nodes
// between two walls are placed in this way before those after the second wall. If a node still
// waits when none is pending, no such order exists.

#include "core/schedule/stable_order.h"

#include <algorithm>

#include "core/base/lists.h"

namespace jointer {
namespace {

class Sorter {
 public:
  Sorter(const Graph& graph, const Dependencies& dependencies, std::span<const OrderEdge> edges,
         const IgnoredDependency& ignores)
      : graph_(graph),
        dependencies_(dependencies),
        ignores_(ignores),
        needed_(Lists<NodeId>::of_each(graph.node_count(),
                                       [&](auto emit) {
                                         for (const OrderEdge& e : edges)
                                           if (!is_read(e)) emit(e.after.index(), e.before);
                                       })),
        is_placed_(graph.node_count(), false),
        waiting_(graph.node_count()) {}

  Result<std::vector<NodeId>> run(std::span<const NodeId> order) {
    result_.reserve(order.size());
    std::size_t begin = 0;
    while (begin < order.size()) {
      std::size_t end = begin;
      while (end < order.size() && !is_wall(graph_.node(order[end]))) ++end;
      const std::size_t placed = result_.size();
      place_all(order.subspan(begin, end - begin));
      if (result_.size() - placed < end - begin) return stuck(order.subspan(begin, end - begin));
      if (end == order.size()) break;
      const NodeId wall = order[end];
      if (missing(wall)) return stuck(order.subspan(end, 1));
      place(wall);
      begin = end + 1;
    }
    return std::move(result_);
  }

 private:
  void place_all(std::span<const NodeId> nodes) {
    std::vector<NodeId> pending(nodes.rbegin(), nodes.rend());
    while (!pending.empty()) {
      const NodeId id = pending.back();
      pending.pop_back();
      if (const NodeId for_it = missing(id)) {
        waiting_[for_it.index()].push_back(id);
        continue;
      }
      place(id);
      auto& released = waiting_[id.index()];
      pending.insert(pending.end(), released.rbegin(), released.rend());
      released.clear();
    }
  }

  // True if the edge is redundant, because `after` reads `before`.
  [[nodiscard]] bool is_read(const OrderEdge& e) const {
    const auto inputs = graph_.inputs(e.after);
    return std::find(inputs.begin(), inputs.end(), e.before) != inputs.end();
  }

  void place(NodeId id) {
    is_placed_[id.index()] = true;
    result_.push_back(id);
  }

  // The last node that `id` needs and that is not placed yet; none if `id` can be placed.
  [[nodiscard]] NodeId missing(NodeId id) const {
    const auto needed = needed_.of(id.index());
    for (std::size_t i = needed.size(); i-- > 0;)
      if (!is_placed_[needed[i].index()]) return needed[i];
    const auto before = dependencies_.before(id);
    for (std::size_t i = before.size(); i-- > 0;)
      if (!is_placed_[before[i].node.index()] && !(ignores_ && ignores_(before[i], id)))
        return before[i].node;
    return {};
  }

  [[nodiscard]] tl::unexpected<Error> stuck(std::span<const NodeId> nodes) const {
    const auto at = std::ranges::find_if(nodes, [&](NodeId id) { return !is_placed_[id.index()]; });
    return fail(Error::Kind::usage, "{} would have to run before {}, on which it depends",
                graph_.name(*at), graph_.name(missing(*at)));
  }

  const Graph& graph_;
  const Dependencies& dependencies_;
  const IgnoredDependency& ignores_;
  Lists<NodeId> needed_;  // by node: the nodes that edges require before it
  std::vector<bool> is_placed_;
  std::vector<std::vector<NodeId>> waiting_;  // indexed by node id: the nodes that wait for it
  std::vector<NodeId> result_;
};

}  // namespace

Result<std::vector<NodeId>> stable_order(const Graph& graph, const Dependencies& dependencies,
                                         std::span<const NodeId> order,
                                         std::span<const OrderEdge> edges,
                                         const IgnoredDependency& ignores) {
  return Sorter(graph, dependencies, edges, ignores).run(order);
}

}  // namespace jointer
