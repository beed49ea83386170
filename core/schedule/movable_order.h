#pragma once

// An order of nodes in which blocks move, with the place of every node. A move costs the distance.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/graph/graph.h"

namespace jointer {

// Places [first, last) of an order.
struct Stretch {
  std::size_t first = 0, last = 0;
};

class MovableOrder {
 public:
  // `nodes`: some of a graph's, each once. `count`: how many the graph has.
  MovableOrder(std::vector<NodeId> nodes, std::size_t count);

  [[nodiscard]] std::span<const NodeId> nodes() const { return nodes_; }
  [[nodiscard]] std::size_t size() const { return nodes_.size(); }
  [[nodiscard]] NodeId operator[](std::size_t place) const { return nodes_[place]; }
  [[nodiscard]] bool has(NodeId node) const { return places_[node.index()] != kNone; }
  // Only of nodes that it has.
  [[nodiscard]] std::size_t place(NodeId node) const { return places_[node.index()]; }
  // By node id.
  [[nodiscard]] std::span<const std::uint32_t> places() const { return places_; }

  // What a move of the block into a gap would change. `block` is in this order; gap g is right
  // before the g-th of the remaining nodes.
  [[nodiscard]] Stretch stretch(std::span<const NodeId> block, std::size_t gap) const;
  // Moves it there; returns what changed.
  Stretch move(std::span<const NodeId> block, std::size_t gap);

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  std::vector<NodeId> nodes_;
  std::vector<std::uint32_t> places_;  // by node
  std::vector<NodeId> scratch_;
};

}  // namespace jointer
