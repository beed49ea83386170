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
  std::vector<bool> is_body, is_escape;  // by node

  [[nodiscard]] bool has(NodeId id) const {
    return id.index() < is_body.size() && is_body[id.index()];
  }
};

// The modules that match the pattern (such as layers.*.moe) and contain all-to-alls, which exchange
// tokens. If there are none and `by_annotation` is set, the modules that match the pattern and
// contain nodes annotated as expert-parallel. Sorted by name.
std::vector<std::string> find_expert_roots(ChunkProgram& program, std::string_view pattern,
                                           bool by_annotation);

// Error (usage): the pattern is not kMoeModules and matches no module that annotations name.
Result<void> check_module_pattern(ChunkProgram& program, std::string_view pattern);

// The plans of the modules in both directions, without those with an empty body, in the order of
// their first nodes. `per_chunk[node]` is true if the value already exists per chunk. Error
// (usage): a forward body reads a value from the backward, or a tensor has several chunk
// dimensions.
Result<std::vector<ChunkPlan>> plan_chunks(ChunkProgram& program,
                                           const std::vector<std::string>& roots,
                                           const std::vector<bool>& per_chunk);

inline bool is_inside(std::string_view module, std::string_view root) {
  return module.starts_with(root) && (module.size() == root.size() || module[root.size()] == '.');
}

}  // namespace jointer
