#pragma once

// A graph with more dependencies than its own, in which some nodes count as one: whether a bucket
// would make a cycle. After torch/_inductor/augmented_graph_helper.py.

#include <cstdint>
#include <span>
#include <vector>

#include "passes/bucketing/overlap_graph.h"

namespace jointer {

// Whether one node needs another: a triangle of bits, in the order in which nodes run.
class Ancestors {
 public:
  // `order`: every place once. `more`: (place, what it needs besides), nothing against the order.
  Ancestors(const OverlapGraph& graph, std::span<const Place> order,
            std::span<const std::pair<Place, Place>> more);

  // Whether `place` needs `other`. Nothing needs itself.
  [[nodiscard]] bool has(Place place, Place other) const {
    const std::uint32_t row = rank_[place], bit = rank_[other];
    return bit < row && (bits_[first_[row] + bit / 64] >> (bit % 64) & 1U) != 0;
  }
  [[nodiscard]] std::uint32_t rank(Place place) const { return rank_[place]; }

 private:
  std::vector<std::uint32_t> rank_;  // by place: in the order
  std::vector<std::size_t> first_;   // by rank: its row's first word
  std::vector<std::uint64_t> bits_;
};

class AugmentedGraph {
 public:
  // Both must outlive it.
  AugmentedGraph(const OverlapGraph& graph, const Ancestors& ancestors);

  void add(Place place, Place dependency);
  // Nothing happens if it is not there.
  void remove(Place place, Place dependency);
  [[nodiscard]] std::span<const Place> more(Place place) const { return more_[place]; }

  // `place`, until now one by itself, counts as one with `of` and those that it is one with.
  void merge(Place of, Place place);
  void unmerge(Place place);

  // Whether `to`, or what it is one with, needs `from` or what that is one with. They are not one.
  [[nodiscard]] bool has_path(Place from, Place to);

 private:
  [[nodiscard]] std::span<const Place> members(const Place& place) const {
    return set_[place] < 0 ? std::span(&place, 1)
                           : std::span<const Place>(sets_[static_cast<std::size_t>(set_[place])]);
  }

  const OverlapGraph& graph_;
  const Ancestors& ancestors_;
  std::vector<std::vector<Place>> more_;  // by place
  std::vector<std::int32_t> set_;         // by place: which set it is in, or -1
  std::vector<std::vector<Place>> sets_;
  std::vector<std::uint32_t> marks_;  // by place: the last search that met it
  std::uint32_t mark_ = 0;
  std::vector<Place> stack_;
};

}  // namespace jointer
