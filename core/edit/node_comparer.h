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

// A difference between two nodes that their canonical texts (core/graph/canonical.h) do not show.
struct DetailDifference {
  std::string part;  // such as "offset", or "result 2: offset" if the node returns several values
  std::string before, after;
};

// Does not compare storages, only whether they are known. Compares nodes in arguments by name or,
// with a match by structure, by correspondence. With such a match, also ignores the targets of
// placeholders, because these are names.
class NodeComparer {
 public:
  // The graphs and the match must outlive this object.
  NodeComparer(const Graph& before, const Graph& after, const NodeMatch* match = nullptr)
      : a_(before), b_(after), match_(match != nullptr && !match->is_by_name() ? match : nullptr) {}

  [[nodiscard]] bool same_target(NodeId a, NodeId b) const;
  [[nodiscard]] bool same_args(NodeId a, NodeId b) const;
  // Ignores the order of keywords.
  [[nodiscard]] bool same_kwargs(NodeId a, NodeId b) const;
  // For each input of `a` that `b` replaces with a node of a different name, returns the names of
  // the input and of its replacement. Returns nullopt if the arguments differ in any other way, or
  // if `b` replaces an input with several nodes. Ignores the order of keyword arguments.
  using Inputs = std::vector<std::pair<std::string, std::string>>;
  [[nodiscard]] std::optional<Inputs> exchanged_inputs(NodeId a, NodeId b) const;
  // An offset that is known in only one graph is not a difference: an edit drops the offsets that
  // it cannot compute.
  [[nodiscard]] bool same_value(NodeId a, NodeId b) const;

  // In the order of the results. Never empty for nodes that differ although their canonical texts
  // are equal.
  [[nodiscard]] std::vector<DetailDifference> detail_differences(NodeId a, NodeId b) const;

 private:
  // Pairs of names: a node that `a` reads, and the node that `b` reads in its place.
  using Pairs = std::vector<std::pair<std::string_view, std::string_view>>;
  // If `inputs` is given, any two nodes compare equal, and each pair is added to `inputs`.
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
