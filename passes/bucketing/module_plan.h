#pragma once

// Decides which modules share buckets, as torchtitan's module bucket plans do.

#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/graph/module_tree.h"
#include "core/pass/pass.h"

namespace jointer {

// Each entry lists the paths of modules whose collectives share buckets.
using ModulePlan = std::vector<std::vector<std::string>>;

// Derives a plan from the model. Each module of a numbered list (layers.0, layers.1, ...) and each
// embedding (tok_embeddings) gets its own entry; the other top-level modules (norm and lm_head)
// share one. Empty if the graph has no modules.
ModulePlan derive_module_plan(const ModuleTree& modules);

// The plan for a flat training step, as torchtitan's get_default_transformer_block_buckets makes
// it: embeddings, the list's members, then the other modules together, norm before lm_head. A
// block's sharded routed experts are a separate entry, and only the router and the shared experts
// of its feed-forward are in the block's entry. A loss that is computed in chunks, or that gathers
// parameters, is in the last entry.
ModulePlan derive_joint_module_plan(const Graph& graph, const ModuleTree& modules);

// Reads the pass parameter `module_bucket_plans`, such as [tok_embeddings,[norm,lm_head],layers.0];
// none if it is not given. Error (usage): an element is neither a path nor a list of paths, or the
// graph has no module with that path.
Result<std::optional<ModulePlan>> given_module_plan(const Graph& graph, const Arguments& arguments);

// The paths of all modules except the root, as views into the tree.
std::vector<std::string_view> module_paths(const ModuleTree& modules);

// Indexed by node: the entry that lists its module or an enclosing module; kNoEntry if none does.
// Error (usage): a path is in two entries, or a module in one entry encloses a module in another.
inline constexpr std::uint32_t kNoEntry = 0xffffffff;
Result<std::vector<std::uint32_t>> entries_by_node(const Graph& graph, const ModuleTree& modules,
                                                   const ModulePlan& plan);

}  // namespace jointer
