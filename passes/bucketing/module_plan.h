#pragma once

// Determines which modules share buckets, like torchtitan's module bucket plans.

#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/graph/module_tree.h"
#include "core/pass/pass.h"

namespace jointer {

// Each entry lists the paths of modules whose collectives may share buckets.
using ModulePlan = std::vector<std::vector<std::string>>;

// Derives a plan from the model. Each module of a numbered list (layers.0, layers.1, ...) and each
// embedding (tok_embeddings) gets its own entry; the other top-level modules (norm and lm_head)
// share one. Empty if the graph has no modules.
ModulePlan derive_module_plan(const ModuleTree& modules);

// Derives the plan for a flat training step, like torchtitan's
// get_default_transformer_block_buckets: embeddings, the members of the list, then the other
// modules together, norm before lm_head. If a block has sharded routed experts, they get a separate
// entry, and the block's entry lists its norms, attention, router and shared experts. A loss is in
// the last entry if it is computed in chunks or gathers parameters.
ModulePlan derive_joint_module_plan(const Graph& graph, const ModuleTree& modules);

// Reads the pass parameter `module_bucket_plans`, such as [tok_embeddings,[norm,lm_head],layers.0].
// Returns std::nullopt if it is not given. Error (usage): an element is neither a path nor a
// nonempty list of paths, or a path does not name a module of the graph.
Result<std::optional<ModulePlan>> given_module_plan(const Graph& graph, const Arguments& arguments);

// The paths of all modules except the root, as views into the tree.
std::vector<std::string_view> module_paths(const ModuleTree& modules);

inline constexpr std::uint32_t kNoEntry = 0xffffffff;

// For each node, the index of the entry that lists its module or an enclosing module; kNoEntry if
// there is no such entry. Paths without a module in the graph are ignored. Error (usage): the path
// of a module is listed twice, or a listed module encloses another listed module.
Result<std::vector<std::uint32_t>> entries_by_node(const Graph& graph, const ModuleTree& modules,
                                                   const ModulePlan& plan);

}  // namespace jointer
