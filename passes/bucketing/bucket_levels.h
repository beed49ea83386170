#pragma once

// Which collectives of a block may be one: those of which none needs another's result, whatever
// buckets were made before.

#include <cstdint>
#include <span>
#include <vector>

#include "core/graph/graph.h"

namespace jointer {

// A start and its wait.
struct WaitedCollective {
  NodeId start, wait;
};

class BucketLevels {
 public:
  // `collectives`: all of the half, in the order of their waits.
  BucketLevels(const Graph& graph, PartId part, std::span<const WaitedCollective> collectives);

  // `members` (numbers of collectives, in program order) as lists of which each is independent: the
  // n-th holds those at the end of a chain of n. Members keep their order.
  std::vector<std::vector<std::uint32_t>> split(std::span<const std::uint32_t> members);
  // They are one from now on: what needs one needs what any of them needs.
  void merge(std::span<const std::uint32_t> members);

 private:
  using Bits = std::vector<std::uint64_t>;  // starts at 2 c, waits at 2 c + 1
  const Bits& ancestors(std::size_t end);

  std::vector<Bits> ancestors_;                // by end: a start or a wait
  std::vector<std::size_t> is_known_;          // by end: how many merges it knows of
  std::vector<std::pair<Bits, Bits>> merges_;  // members, and what is before any of them
};

}  // namespace jointer
