#pragma once

// Decides which modules share buckets: torchtitan's plan of module buckets.

#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/graph/module_tree.h"
#include "core/pass/pass.h"

namespace jointer {

// Each entry: paths of modules whose collectives share buckets.
using ModulePlan = std::vector<std::vector<std::string>>;

// Derives a plan from the model: each module of a numbered list (layers.0, layers.1, ...)
// separately; other top-level modules before the list separately (tok_embeddings), those after it
// together (norm and lm_head). Empty if the graph has no modules.
ModulePlan derive_module_plan(const ModuleTree& modules);

// The plan of a step with both directions, as torchtitan's get_default_transformer_block_buckets
// makes it: embeddings, the list's members, then the others together, norm before lm_head. A
// block's sharded routed experts are a separate entry, and of its feed-forward only the router and
// shared experts are in an entry. A loss that is computed in chunks, or gathers parameters, is in
// the last entry.
ModulePlan derive_joint_module_plan(const Graph& graph, const ModuleTree& modules);

// The parameter `module_bucket_plans` of a pass, [tok_embeddings,[norm,lm_head],layers.0]; none if
// it is not given. Error (usage): the value is not a list of paths and lists of paths, or the graph
// has no module of a path.
Result<std::optional<ModulePlan>> given_module_plan(const Graph& graph, const Arguments& arguments);

// Paths of all modules except the root; they point into the tree.
std::vector<std::string_view> module_paths(const ModuleTree& modules);

// By node: the plan's entry with its module, or with a module that contains it; kNoEntry: none.
// Error (usage): a path is in two entries, or a module of one is inside a module of another.
inline constexpr std::uint32_t kNoEntry = 0xffffffff;
Result<std::vector<std::uint32_t>> entries_by_node(const Graph& graph, const ModuleTree& modules,
                                                   const ModulePlan& plan);

}  // namespace jointer
