#pragma once

// Finds collectives of a block that may be merged, because none depends on another's result, not
// even through existing buckets.

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
  // `collectives` contains all collectives of the half, in the order of their waits.
  BucketLevels(const Graph& graph, PartId part, std::span<const WaitedCollective> collectives);

  // Splits `members` (indices of collectives, in program order) into lists of independent members,
  // by the length of the longest chain of members that each member depends on. Each list preserves
  // the order of `members`.
  std::vector<std::vector<std::uint32_t>> split(std::span<const std::uint32_t> members);
  // Merges the members: from now on, each of them, and every node that depends on the start of one,
  // also depends on the starts of all and on everything that these depend on.
  void merge(std::span<const std::uint32_t> members);

 private:
  using Bits = std::vector<std::uint64_t>;  // bit 2 c: start of collective c; 2 c + 1: its wait
  const Bits& ancestors(std::size_t end);

  std::vector<Bits> ancestors_;                // by end: a start or a wait
  std::vector<std::size_t> applied_;           // by end: number of merges applied to it
  std::vector<std::pair<Bits, Bits>> merges_;  // members' starts; these and all their ancestors
};

}  // namespace jointer
