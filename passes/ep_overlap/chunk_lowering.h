#pragma once

// Makes the body of one module twice, each for half of the batch or the sequence.

#include <array>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "passes/ep_overlap/chunk_plan.h"

namespace jointer {

// A value of each chunk.
using ChunkPair = std::array<NodeId, 2>;

// What lowering one module leaves to those after it, by node; without a pair: both are none.
struct ChunkPairs {
  std::vector<ChunkPair> per_chunk;            // values that come in two
  std::vector<ChunkPair> copies;               // the copies of one node, at each of them
  std::unordered_map<NodeId, Node> originals;  // nodes as they were before they became a copy

  [[nodiscard]] static ChunkPair of(const std::vector<ChunkPair>& pairs, NodeId id) {
    return id.index() < pairs.size() ? pairs[id.index()] : ChunkPair{};
  }
  static void set(std::vector<ChunkPair>& pairs, NodeId id, const ChunkPair& pair) {
    if (id.index() >= pairs.size()) pairs.resize(id.index() + 1);
    pairs[id.index()] = pair;
  }
};

struct ChunkLoweringOptions {
  ChunkMode mode = ChunkMode::batch;
  // Sums of gradients stand before views and collectives that follow them.
  bool early_sums = true;
  // Called with a node that was made, or is a chunk's now.
  std::function<void(NodeId id, std::string_view action, std::string reason)> decide;
};

// Lowers plans[which]; the other plans say who else comes in chunks. Error (usage): a value cannot
// be cut, or cannot be made whole again.
Result<void> lower_chunks(ChunkProgram& program, const std::vector<ChunkPlan>& plans,
                          std::size_t which, const ChunkLoweringOptions& options,
                          ChunkPairs& pairs);

}  // namespace jointer
