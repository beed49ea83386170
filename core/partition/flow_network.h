#pragma once

// A directed network with capacities, and its minimum cut. The top of flow_network.cpp describes
// the algorithm.

#include <cstdint>
#include <limits>
#include <vector>

#include "core/base/result.h"

namespace jointer {

class FlowNetwork {
 public:
  using Vertex = std::uint32_t;
  static constexpr Vertex kSource = 0, kSink = 1;
  // Greater than any sum of capacities that minimum_cut accepts. An arc of this capacity is never
  // cut.
  static constexpr std::int64_t kInfinite = std::numeric_limits<std::int64_t>::max();

  struct Arc {
    Vertex from = 0, to = 0;
    std::int64_t capacity = 0;
  };

  // Vertices are numbered from 0, and include the source and the sink.
  explicit FlowNetwork(std::size_t vertices) : vertices_(vertices) {}
  void reserve(std::size_t arcs) { arcs_.reserve(arcs); }
  // `capacity` must not be negative.
  void add(Vertex from, Vertex to, std::int64_t capacity) { arcs_.push_back({from, to, capacity}); }

  struct Cut {
    std::int64_t capacity = 0;
    std::vector<bool> sink_side;  // by vertex
  };
  // The minimum cut nearest to the sink: its sink side is a subset of the sink side of every
  // minimum cut. If no cut is finite, the capacity is kInfinite and `sink_side` is empty. Error
  // (usage): the finite capacities add up to about 2^61 or more.
  [[nodiscard]] Result<Cut> minimum_cut() const;

  [[nodiscard]] std::size_t vertex_count() const { return vertices_; }
  [[nodiscard]] const std::vector<Arc>& arcs() const { return arcs_; }

  // The vertices of a path from the source to the sink, including both, along arcs of infinite
  // capacity; empty if there is no such path.
  [[nodiscard]] std::vector<Vertex> infinite_path() const;

 private:
  std::size_t vertices_;
  std::vector<Arc> arcs_;
};

}  // namespace jointer
