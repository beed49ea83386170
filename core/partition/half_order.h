#pragma once

// Finds the calls of one half of a joint graph and their order, as torch._functorch.partitioners
// does. The rules are the same for emitted pairs (half.cpp, backward_order.cpp), which reach nodes
// through the graph, and for plans that are only evaluated (pair_order.cpp), which reach nodes
// through arrays built once per graph.
//
// `Nodes` has
//   Node                  the type that identifies a node
//   order()               all nodes, in the joint graph's order
//   position(node)        the position of a node in that order
//   index(node), count()  the node's number, and a bound that is greater than all numbers
//   inputs(node)          the nodes that it reads
//   has_effect(node)      true if it runs even if nothing reads it
//   is_getitem(node), is_copy(node), is_functional_collective(node)
// `Marks` is an array indexed by index(node).

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/graph/graph.h"
#include "core/partition/dead_code.h"
#include "core/partition/partition.h"

namespace jointer {

template <class Nodes>
using NodeOf = typename Nodes::Node;

// Finds the nodes that a half can run, in the joint graph's order: those for which `may_run` is
// true and whose inputs are all available. Marks them as available too.
template <class Nodes, class Marks, class MayRun>
std::vector<NodeOf<Nodes>> find_available(const Nodes& nodes, Marks& is_available, MayRun may_run) {
  std::vector<NodeOf<Nodes>> found;
  found.reserve(nodes.count());
  for (const NodeOf<Nodes> node : nodes.order()) {
    if (is_available[nodes.index(node)] || !may_run(node)) continue;
    const auto inputs = nodes.inputs(node);
    if (!std::all_of(inputs.begin(), inputs.end(),
                     [&](NodeOf<Nodes> input) { return bool(is_available[nodes.index(input)]); }))
      continue;
    is_available[nodes.index(node)] = true;
    found.push_back(node);
  }
  return found;
}

// Finds the available calls that are read or have an effect, and the calls that those need.
// `is_read`: on entry, marks the nodes that the half's outputs read; on return, also those that the
// needed calls read.
template <class Nodes, class Marks>
std::vector<NodeOf<Nodes>> find_needed(const Nodes& nodes, std::span<const NodeOf<Nodes>> available,
                                       Marks& is_read) {
  std::vector<NodeOf<Nodes>> needed;
  needed.reserve(available.size());
  for (std::size_t i = available.size(); i-- > 0;) {
    const NodeOf<Nodes> node = available[i];
    if (!is_read[nodes.index(node)] && !nodes.has_effect(node)) continue;
    needed.push_back(node);
    for (const NodeOf<Nodes> input : nodes.inputs(node)) is_read[nodes.index(input)] = true;
  }
  std::reverse(needed.begin(), needed.end());
  return needed;
}

// Among `node`, which is not available, and its ancestors, finds a node that is not available
// although all its inputs are.
template <class Nodes, class Marks>
NodeOf<Nodes> find_missing(const Nodes& nodes, NodeOf<Nodes> node, const Marks& is_available) {
  while (true) {
    const auto inputs = nodes.inputs(node);
    const auto missing = std::find_if(inputs.begin(), inputs.end(), [&](NodeOf<Nodes> input) {
      return !is_available[nodes.index(input)];
    });
    if (missing == inputs.end()) return node;
    node = *missing;
  }
}

// reordering_to_mimic_autograd_engine: starting at the first call that reads a tangent, runs each
// call in order, preceded by the calls that it needs and that have not run yet, in their order. A
// value is thus recomputed when it is first needed, not at the start. Before that, runs each
// earlier aten.copy_ with the calls that it needs; at the end, the calls that only outputs need.
// Earlier calls that nothing needs are dropped. If no call or output reads a tangent, nothing
// changes. `is_done`: on entry, marks the inputs of the backward.
template <class Nodes, class IsTangent, class Marks>
void mimic_autograd(const Nodes& nodes, std::span<const NodeOf<Nodes>> outputs,
                    IsTangent is_tangent, Marks is_done, std::vector<NodeOf<Nodes>>& calls) {
  using Item = NodeOf<Nodes>;
  const auto first = std::find_if(calls.begin(), calls.end(), [&](Item call) {
    const auto inputs = nodes.inputs(call);
    return std::any_of(inputs.begin(), inputs.end(), is_tangent);
  });
  if (first == calls.end() && std::none_of(outputs.begin(), outputs.end(), is_tangent)) return;
  std::vector<Item> order, needed, pending;
  order.reserve(calls.size());
  const auto run = [&](std::span<const Item> wanted) {
    needed.clear();
    pending.assign(wanted.begin(), wanted.end());
    while (!pending.empty()) {
      const Item node = pending.back();
      pending.pop_back();
      if (is_done[nodes.index(node)]) continue;
      is_done[nodes.index(node)] = true;
      needed.push_back(node);
      for (const Item input : nodes.inputs(node))
        if (!is_done[nodes.index(input)]) pending.push_back(input);
    }
    if (needed.size() > 1)
      std::sort(needed.begin(), needed.end(),
                [&](Item a, Item b) { return nodes.position(a) < nodes.position(b); });
    for (const Item node : needed) order.push_back(node);
  };
  for (auto it = calls.begin(); it != first; ++it)
    if (nodes.is_copy(*it)) run({&*it, 1});
  for (auto it = first; it != calls.end(); ++it) {
    const auto inputs = nodes.inputs(*it);
    const bool needs_nothing =
        !is_done[nodes.index(*it)] && std::all_of(inputs.begin(), inputs.end(), [&](Item input) {
          return bool(is_done[nodes.index(input)]);
        });
    if (!needs_nothing) {
      run({&*it, 1});
      continue;
    }
    is_done[nodes.index(*it)] = true;  // the usual case, without a search
    order.push_back(*it);
  }
  run(outputs);
  calls = std::move(order);
}

// True if each getitem directly follows the call that it reads, or another getitem of that call.
template <class Nodes>
bool has_raised_getitems(const Nodes& nodes, std::span<const NodeOf<Nodes>> calls) {
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (!nodes.is_getitem(calls[i])) continue;
    const NodeOf<Nodes> parent = nodes.inputs(calls[i]).front();
    if (i == 0 || (calls[i - 1] != parent && (!nodes.is_getitem(calls[i - 1]) ||
                                              nodes.inputs(calls[i - 1]).front() != parent)))
      return false;
  }
  return true;
}

// Moves each getitem, from the last to the first, to the position right after the call that it
// reads, or to the front if that call is not in `calls`.
template <class Nodes>
void raise_getitems(const Nodes& nodes, std::vector<NodeOf<Nodes>>& calls) {
  using Item = NodeOf<Nodes>;
  if (has_raised_getitems(nodes, calls)) return;
  // A circular list, linked by position among the calls; `end` is its head.
  const auto end = static_cast<std::uint32_t>(calls.size());
  std::vector<std::uint32_t> place(nodes.count(), end), next(end + 1), previous(end + 1);
  for (std::uint32_t i = 0; i <= end; ++i) {
    next[i] = i == end ? 0 : i + 1;
    previous[i] = i == 0 ? end : i - 1;
    if (i < end) place[nodes.index(calls[i])] = i;
  }
  for (std::uint32_t i = end; i-- > 0;) {
    if (!nodes.is_getitem(calls[i])) continue;
    const std::uint32_t after = place[nodes.index(nodes.inputs(calls[i]).front())];
    if (next[after] == i) continue;
    next[previous[i]] = next[i];
    previous[next[i]] = previous[i];
    next[i] = next[after];
    previous[i] = after;
    previous[next[after]] = i;
    next[after] = i;
  }
  std::vector<Item> order;
  order.reserve(end);
  for (std::uint32_t i = next[end]; i != end; i = next[i]) order.push_back(calls[i]);
  calls = std::move(order);
}

// default_partition eliminates dead code once more, with a predicate that treats everything but
// functional collectives as impure. Collectives and waits that nothing reads are dropped; all other
// calls stay, even if only dropped ones read them.
template <class Nodes>
void drop_unread_collectives(const Nodes& nodes, std::span<const NodeOf<Nodes>> outputs,
                             std::vector<NodeOf<Nodes>>& calls) {
  std::vector<std::uint8_t> is_read(nodes.count(), 0);
  for (const NodeOf<Nodes> output : outputs) is_read[nodes.index(output)] = 1;
  std::vector<NodeOf<Nodes>> kept;
  for (std::size_t i = calls.size(); i-- > 0;) {
    const NodeOf<Nodes> node = calls[i];
    if (!is_read[nodes.index(node)] && nodes.is_functional_collective(node)) continue;
    for (const NodeOf<Nodes> input : nodes.inputs(node)) is_read[nodes.index(input)] = 1;
    kept.push_back(node);
  }
  std::reverse(kept.begin(), kept.end());
  calls = std::move(kept);
}

// Puts the needed calls of the forward into the order in which they run. For default_partition,
// drops unread collectives first.
template <class Nodes>
void order_forward(const Nodes& nodes, Partitioner partitioner,
                   std::span<const NodeOf<Nodes>> outputs, std::vector<NodeOf<Nodes>>& calls) {
  if (partitioner == Partitioner::default_partition) drop_unread_collectives(nodes, outputs, calls);
  raise_getitems(nodes, calls);
}

// Puts the needed calls of the backward into the order in which they run, and drops some as
// described above. `any_tags`: true if any node is tagged for recomputation; if false,
// default_partition keeps the joint graph's order, except for getitems. `is_given`: marks the
// inputs of the backward.
template <class Nodes, class IsTangent, class Marks>
void order_backward(const Nodes& nodes, Partitioner partitioner, bool any_tags,
                    std::span<const NodeOf<Nodes>> outputs, IsTangent is_tangent, Marks is_given,
                    std::vector<NodeOf<Nodes>>& calls) {
  const bool is_default = partitioner == Partitioner::default_partition;
  if (is_default) drop_unread_collectives(nodes, outputs, calls);
  if (!is_default || any_tags)
    mimic_autograd(nodes, outputs, is_tangent, std::move(is_given), calls);
  raise_getitems(nodes, calls);
}

// Nodes reached through the graph.
class GraphNodes {
 public:
  using Node = NodeId;

  explicit GraphNodes(const Graph& graph) : graph_(graph) {}

  [[nodiscard]] std::span<const NodeId> order() const { return graph_.order(); }
  [[nodiscard]] std::size_t position(NodeId id) const { return graph_.position(id); }
  [[nodiscard]] std::size_t index(NodeId id) const { return id.index(); }
  [[nodiscard]] std::size_t count() const { return graph_.node_count(); }
  [[nodiscard]] std::span<const NodeId> inputs(NodeId id) const { return graph_.inputs(id); }
  [[nodiscard]] bool has_effect(NodeId id) const { return is_impure(graph_, graph_.node(id)); }
  [[nodiscard]] bool is_getitem(NodeId id) const {
    const jointer::Node& node = graph_.node(id);
    return node.kind == NodeKind::call && graph_.op(node).is_getitem && node.input_count == 1;
  }
  [[nodiscard]] bool is_copy(NodeId id) const {
    return graph_.target(graph_.node(id)) == "aten.copy_.default";
  }
  [[nodiscard]] bool is_functional_collective(NodeId id) const {
    const jointer::Node& node = graph_.node(id);
    return node.kind == NodeKind::call && graph_.op(node).space() == "_c10d_functional";
  }

 protected:
  const Graph& graph_;
};

}  // namespace jointer
