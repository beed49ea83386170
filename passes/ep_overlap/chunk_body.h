#pragma once

// What the steps of lowering one module share: the program, the plan, and what has become of the
// nodes of the body so far.

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
  std::unordered_map<NodeId, Node> originals = {};  // nodes of the body, as they were
  // By chunk: of each node of the body, and of the storages that those lie in.
  std::array<std::unordered_map<NodeId, NodeId>, 2> copies = {};
  std::array<std::unordered_map<StorageId, StorageId>, 2> storages = {};

  // "layers.1.moe (forward)"
  [[nodiscard]] std::string where() const;

  // A call beside the body, right before `before`. `chunk`: of which it is, or ChunkProgram::kNone.
  NodeId add(std::string_view target, std::vector<Argument> args, const Value& value, NodeId before,
             ChunkRole role, int chunk = ChunkProgram::kNone);
  Argument list(const std::vector<Argument>& items);

  // The expression of a symbolic size.
  [[nodiscard]] std::string text(const Dim& dim) const;
  // Whether a size that it names, or a node in it, is over the chunk symbol.
  [[nodiscard]] bool names_chunk_size(const Argument& argument);
  // Where a call on one tensor that gives one takes a shape.
  [[nodiscard]] std::optional<std::size_t> shape_argument(const Node& node) const;
};

}  // namespace jointer
