#pragma once

// Compares nodes of two graphs, including details that the canonical text does not show.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/edit/node_match.h"
#include "core/graph/graph.h"

namespace jointer {

// Something about a node that the canonical text (core/graph/canonical.h) does not show.
struct DetailDifference {
  std::string part;  // "offset", or "result 2: offset" if the node returns several values
  std::string before, after;
};

// Storages are not compared. Nodes in arguments are compared by name or, with a match, by
// correspondence; names of placeholders, which are their targets, are then not compared either.
class NodeComparer {
 public:
  // The graphs and the match must outlive it.
  NodeComparer(const Graph& before, const Graph& after, const NodeMatch* match = nullptr)
      : a_(before), b_(after), match_(match != nullptr && !match->is_by_name() ? match : nullptr) {}

  [[nodiscard]] bool same_target(NodeId a, NodeId b) const;
  [[nodiscard]] bool same_args(NodeId a, NodeId b) const;
  // In any order of keywords.
  [[nodiscard]] bool same_kwargs(NodeId a, NodeId b) const;
  // Pairs of names: an input of `a`, and the node that `b` reads in its place. nullopt if the
  // arguments differ in anything else, or if `b` reads several nodes in place of one. Keywords may
  // be in any order.
  using Inputs = std::vector<std::pair<std::string, std::string>>;
  [[nodiscard]] std::optional<Inputs> exchanged_inputs(NodeId a, NodeId b) const;
  // An offset that only one graph knows is not a difference: an edit forgets what it cannot
  // compute.
  [[nodiscard]] bool same_value(NodeId a, NodeId b) const;

  // In the order of the results. Not empty if the nodes differ and their canonical texts do not.
  [[nodiscard]] std::vector<DetailDifference> detail_differences(NodeId a, NodeId b) const;

 private:
  // The node of `b` at the place of each node of `a`, by name.
  using Pairs = std::vector<std::pair<std::string_view, std::string_view>>;
  // If `inputs` is given, any two nodes compare equal, and the pair is added to it.
  [[nodiscard]] bool same(const Argument& x, const Argument& y, Pairs* inputs = nullptr) const;
  [[nodiscard]] bool same_node(NodeId a, NodeId b) const;
  [[nodiscard]] bool same(const Value& x, const Value& y) const;
  [[nodiscard]] bool same(const Tensor& x, const Tensor& y) const;
  [[nodiscard]] bool same(const Dim& x, const Dim& y) const;
  [[nodiscard]] bool same(std::span<const Dim> x, std::span<const Dim> y) const;
  void add_differences(const Value& x, const Value& y, const std::string& place,
                       std::vector<DetailDifference>& found) const;

  const Graph& a_;
  const Graph& b_;
  const NodeMatch* match_;  // null: by name
};

}  // namespace jointer
