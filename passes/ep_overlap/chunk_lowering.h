#pragma once

// Duplicates the body of a module; each copy processes half of the batch or the sequence.

#include <array>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "passes/ep_overlap/chunk_plan.h"

namespace jointer {

// One value per chunk.
using ChunkPair = std::array<NodeId, 2>;

// State passed from one lowered module to the next. The vectors are indexed by node; if a node has
// no pair, both entries are none.
struct ChunkPairs {
  std::vector<ChunkPair> per_chunk;            // the chunks of values that exist per chunk
  std::vector<ChunkPair> copies;               // both copies of a node, at the index of each copy
  std::unordered_map<NodeId, Node> originals;  // nodes before they became copies

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
  // True: in the backward, join the halves of a live-out before the final views and collectives
  // that compute it. False: join them after these.
  bool early_joins = true;
  // Called for each node of a chunk, each split and each joined value.
  std::function<void(NodeId id, std::string_view action, std::string reason)> decide;
};

// Lowers plans[which]; the other plans determine which readers outside of this plan read values per
// chunk. Error (usage): the body cannot be split, or the halves of a value cannot be joined.
Result<void> lower_chunks(ChunkProgram& program, const std::vector<ChunkPlan>& plans,
                          std::size_t which, const ChunkLoweringOptions& options,
                          ChunkPairs& pairs);

}  // namespace jointer
