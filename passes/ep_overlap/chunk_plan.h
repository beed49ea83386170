#pragma once

// Chooses which nodes of each module graph chunking duplicates.

#include <string>
#include <vector>

#include "passes/ep_overlap/chunk_program.h"

namespace jointer {

// The plan of one module in one direction.
struct ChunkPlan {
  ChunkRoot root;
  std::vector<NodeId> body;              // in program order
  std::vector<bool> is_body, is_escape;  // by node: set by ChunkPlanner

  [[nodiscard]] bool has(NodeId id) const {
    return id.index() < is_body.size() && is_body[id.index()];
  }
};

// Modules that match the pattern (layers.*.moe) and contain all-to-alls, which exchange tokens. If
// there are none and `by_annotation` is set, modules that match the pattern and have annotations of
// expert parallelism. Sorted by name.
std::vector<std::string> find_expert_roots(ChunkProgram& program, std::string_view pattern,
                                           bool by_annotation);

// Error (usage): the pattern matches no module of the graph, and is not kMoeModules.
Result<void> check_module_pattern(ChunkProgram& program, std::string_view pattern);

// The plans for both directions, in the order of their first nodes. `per_chunk` is indexed by node:
// true if the value already exists per chunk. Error (usage): a body cannot be separated from the
// rest.
Result<std::vector<ChunkPlan>> plan_chunks(ChunkProgram& program,
                                           const std::vector<std::string>& roots,
                                           const std::vector<bool>& per_chunk);

inline bool is_inside(std::string_view module, std::string_view root) {
  return module.starts_with(root) && (module.size() == root.size() || module[root.size()] == '.');
}

}  // namespace jointer
