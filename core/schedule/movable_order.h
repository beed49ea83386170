#pragma once

// Maintains an order of nodes in which blocks can be moved, and the position of every node. The
// cost of a move is linear in its distance.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/graph/graph.h"

namespace jointer {

// The positions [first, last) of an order.
struct Stretch {
  std::size_t first = 0, last = 0;
};

class MovableOrder {
 public:
  // `nodes`: distinct nodes of a graph. `count`: the number of nodes in the graph.
  MovableOrder(std::vector<NodeId> nodes, std::size_t count);

  [[nodiscard]] std::span<const NodeId> nodes() const { return nodes_; }
  [[nodiscard]] std::size_t size() const { return nodes_.size(); }
  [[nodiscard]] NodeId operator[](std::size_t place) const { return nodes_[place]; }
  [[nodiscard]] bool has(NodeId node) const { return places_[node.index()] != kNone; }
  // `node` must be in the order.
  [[nodiscard]] std::size_t place(NodeId node) const { return places_[node.index()]; }
  // The positions, indexed by node id; a large number for a node that is not in the order.
  [[nodiscard]] std::span<const std::uint32_t> places() const { return places_; }

  // The stretch that moving the block to a gap would change. `block` is sorted by this order; gap g
  // is right before remaining node g.
  [[nodiscard]] Stretch stretch(std::span<const NodeId> block, std::size_t gap) const;
  // Moves the block to the gap and returns the stretch that changed.
  Stretch move(std::span<const NodeId> block, std::size_t gap);

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  std::vector<NodeId> nodes_;
  std::vector<std::uint32_t> places_;  // indexed by node
  std::vector<NodeId> scratch_;
};

}  // namespace jointer
