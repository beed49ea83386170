#pragma once

// State shared by the steps that lower one module: the program, the plan, and the copies of the
// body's nodes made so far.

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "passes/ep_overlap/chunk_lowering.h"

namespace jointer {

inline Argument ref(NodeId id) {
  return Argument::of_node(id);
}

struct ChunkBody {
  ChunkProgram& program;
  const std::vector<ChunkPlan>& plans;
  const ChunkPlan& plan;
  const ChunkLoweringOptions& options;
  ChunkPairs& pairs;
  std::unordered_map<NodeId, Node> originals = {};  // the body's nodes before lowering
  // Indexed by chunk: the copies of the body's nodes and of their storages.
  std::array<std::unordered_map<NodeId, NodeId>, 2> copies = {};
  std::array<std::unordered_map<StorageId, StorageId>, 2> storages = {};

  // "layers.1.moe (forward)"
  [[nodiscard]] std::string where() const;

  // Adds a call that is not part of the body, directly before `before`. `chunk` is the call's
  // chunk, or ChunkProgram::kNone.
  NodeId add(std::string_view target, std::vector<Argument> args, const Value& value, NodeId before,
             ChunkRole role, int chunk = ChunkProgram::kNone);
  Argument list(const std::vector<Argument>& items);

  // The expression of a symbolic size.
  [[nodiscard]] std::string text(const Dim& dim) const;
  // True if the argument is or contains a node or size that depends on the chunk symbol.
  [[nodiscard]] bool depends_on_chunk_size(const Argument& argument);
  // For a call whose first argument and only result are tensors, the index of its positional
  // argument `shape` or `size`; std::nullopt if there is none.
  [[nodiscard]] std::optional<std::size_t> shape_argument(const Node& node) const;
};

}  // namespace jointer
