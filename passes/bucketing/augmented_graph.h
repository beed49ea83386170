#pragma once

// A graph with additional dependencies, in which merged nodes count as a single node. Used to check
// whether a bucket would create a cycle. Modeled on torch/_inductor/augmented_graph_helper.py.

#include <cstdint>
#include <span>
#include <vector>

#include "passes/bucketing/overlap_graph.h"

namespace jointer {

// Checks whether one node depends on another, with a triangular bit matrix in execution order.
class Ancestors {
 public:
  // `order` contains every position once. `more` contains additional dependencies: pairs of a
  // position and a position that it depends on, which precedes it in `order`.
  Ancestors(const OverlapGraph& graph, std::span<const Place> order,
            std::span<const std::pair<Place, Place>> more);

  // True if `place` depends on `other`. No position depends on itself.
  [[nodiscard]] bool has(Place place, Place other) const {
    const std::uint32_t row = rank_[place], bit = rank_[other];
    return bit < row && (bits_[first_[row] + bit / 64] >> (bit % 64) & 1U) != 0;
  }
  [[nodiscard]] std::uint32_t rank(Place place) const { return rank_[place]; }

 private:
  std::vector<std::uint32_t> rank_;  // by position: its index in the order
  std::vector<std::size_t> first_;   // by rank: the first word of its row
  std::vector<std::uint64_t> bits_;
};

class AugmentedGraph {
 public:
  // The arguments must outlive this object.
  AugmentedGraph(const OverlapGraph& graph, const Ancestors& ancestors);

  void add(Place place, Place dependency);
  // Does nothing if the dependency does not exist.
  void remove(Place place, Place dependency);
  [[nodiscard]] std::span<const Place> more(Place place) const { return more_[place]; }

  // Merges `place`, which must not be merged yet, with `of` and all nodes merged with `of`.
  void merge(Place of, Place place);
  void unmerge(Place place);

  // True if `to` or a node merged with `to` depends on `from` or a node merged with `from`. `from`
  // and `to` must not be merged with each other.
  [[nodiscard]] bool has_path(Place from, Place to);

 private:
  [[nodiscard]] std::span<const Place> members(const Place& place) const {
    return set_[place] < 0 ? std::span(&place, 1)
                           : std::span<const Place>(sets_[static_cast<std::size_t>(set_[place])]);
  }

  const OverlapGraph& graph_;
  const Ancestors& ancestors_;
  std::vector<std::vector<Place>> more_;  // by position
  std::vector<std::int32_t> set_;         // by position: the set that contains it, or -1
  std::vector<std::vector<Place>> sets_;
  std::vector<std::uint32_t> marks_;  // by position: the last search that reached it
  std::uint32_t mark_ = 0;
  std::vector<Place> stack_;
};

}  // namespace jointer
