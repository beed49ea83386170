#pragma once

// Chooses the nodes of each module that graph chunking duplicates.

#include <string>
#include <vector>

#include "passes/ep_overlap/chunk_program.h"

namespace jointer {

// The plan of one module in one direction.
struct ChunkPlan {
  ChunkRoot root;
  std::vector<NodeId> body;              // in program order
  std::vector<bool> is_body, is_escape;  // by node: see ChunkPlanner

  [[nodiscard]] bool has(NodeId id) const {
    return id.index() < is_body.size() && is_body[id.index()];
  }
};

// Modules that match the pattern (layers.*.moe) and exchange tokens: by all-to-alls, or, if there
// are none and `by_annotation` is set, by their annotations. Sorted by name.
std::vector<std::string> find_expert_roots(ChunkProgram& program, std::string_view pattern,
                                           bool by_annotation);

// Error (usage): the pattern matches no module of the graph, and is not kMoeModules.
Result<void> check_module_pattern(ChunkProgram& program, std::string_view pattern);

// Plans of both directions, in the order of their first nodes. `per_chunk`, by node: values that
// already exist per chunk. Error (usage): a body cannot be separated from the rest.
Result<std::vector<ChunkPlan>> plan_chunks(ChunkProgram& program,
                                           const std::vector<std::string>& roots,
                                           const std::vector<bool>& per_chunk);

inline bool is_inside(std::string_view module, std::string_view root) {
  return module.starts_with(root) && (module.size() == root.size() || module[root.size()] == '.');
}

}  // namespace jointer
