#pragma once

// A directed network with capacities, and its minimum cut. How it is found is at the top of
// flow_network.cpp.

#include <cstdint>
#include <limits>
#include <vector>

#include "core/base/result.h"

namespace jointer {

class FlowNetwork {
 public:
  using Vertex = std::uint32_t;
  static constexpr Vertex kSource = 0, kSink = 1;
  // More than any sum of capacities; such an arc is never cut.
  static constexpr std::int64_t kInfinite = std::numeric_limits<std::int64_t>::max();

  struct Arc {
    Vertex from = 0, to = 0;
    std::int64_t capacity = 0;
  };

  // Vertices are numbered from 0; the source and the sink are among them.
  explicit FlowNetwork(std::size_t vertices) : vertices_(vertices) {}
  void reserve(std::size_t arcs) { arcs_.reserve(arcs); }
  // Capacities are not negative.
  void add(Vertex from, Vertex to, std::int64_t capacity) { arcs_.push_back({from, to, capacity}); }

  struct Cut {
    std::int64_t capacity = 0;
    std::vector<bool> sink_side;  // by vertex
  };
  // The minimum cut nearest to the sink: its sink side is part of that of every other minimum cut.
  // Its capacity is kInfinite if no cut is finite. Error (usage): capacities add up to more than
  // fits.
  [[nodiscard]] Result<Cut> minimum_cut() const;

  [[nodiscard]] std::size_t vertex_count() const { return vertices_; }
  [[nodiscard]] const std::vector<Arc>& arcs() const { return arcs_; }

  // Arcs of infinite capacity alone lead from the source to the sink: such a path, as vertices from
  // the source to the sink; empty if there is none.
  [[nodiscard]] std::vector<Vertex> infinite_path() const;

 private:
  std::size_t vertices_;
  std::vector<Arc> arcs_;
};

}  // namespace jointer
