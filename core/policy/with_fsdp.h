#pragma once

// Upstream's lists and policies on a graph that FSDP's pass has tagged. What becomes of gathered
// parameters is decided by the tags of the graph as it was opened, whatever was tried on it since.

#include <string>
#include <vector>

#include "core/edit/edit.h"
#include "core/graph/graph.h"
#include "core/policy/tagging.h"

namespace jointer {

// What FSDP's tags say of gathered parameters; none where there are no such tags.
MemoryPolicy fsdp_policy(const Graph& opened);

// apply_sac, and behind it FSDP's tags, since upstream runs that pass last. `fsdp`: fsdp_policy.
Result<Edit> apply_sac_with_fsdp(const Graph& graph, const SacOptions& options, MemoryPolicy fsdp);

// A memory policy decides about gathered parameters itself; it is told whether they are to be kept.
Result<Edit> memory_policy_with_fsdp(const Graph& graph, const std::string& preset,
                                     const std::vector<std::string>& save_ops, MemoryPolicy fsdp);

// By a name that people choose from: `apply_sac`, with upstream's list, or a memory policy.
inline constexpr const char* kApplySac = "apply_sac";
// apply_sac, default, full, eager, sac_and_offload.
std::vector<std::string> upstream_presets();
Result<Edit> preset_with_fsdp(const Graph& graph, const std::string& name, MemoryPolicy fsdp);

}  // namespace jointer
