#pragma once

// Applies upstream's lists and policies to a graph that FSDP's pass has tagged. The tags of the
// graph as opened determine whether gathered parameters are saved, whatever tags have been set
// since.

#include <string>
#include <vector>

#include "core/edit/edit.h"
#include "core/graph/graph.h"
#include "core/policy/tagging.h"

namespace jointer {

// The policy of gathered parameters according to FSDP's tags; `none` if there are no such tags.
MemoryPolicy fsdp_policy(const Graph& opened);

// Runs apply_sac, then sets FSDP's tags, because upstream runs the FSDP pass last. `fsdp`: the
// result of fsdp_policy; if it is `none`, no FSDP tags are set.
Result<Edit> apply_sac_with_fsdp(const Graph& graph, const SacOptions& options, MemoryPolicy fsdp);

// Applies a memory policy, which also tags gathered parameters; `fsdp` determines whether they are
// saved.
Result<Edit> memory_policy_with_fsdp(const Graph& graph, const std::string& preset,
                                     const std::vector<std::string>& save_ops, MemoryPolicy fsdp);

// Presets have the names that users see: `apply_sac`, with upstream's list, or a memory policy.
inline constexpr const char* kApplySac = "apply_sac";
// apply_sac, default, full, eager and sac_and_offload.
std::vector<std::string> upstream_presets();
Result<Edit> preset_with_fsdp(const Graph& graph, const std::string& name, MemoryPolicy fsdp);

}  // namespace jointer
