#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace jointer {

// The policy tag of a node, which partitioners follow. Source:
// torch.utils.checkpoint.CheckpointPolicy.
enum class MemoryPolicy : std::uint8_t {
  none,
  must_save,
  prefer_save,
  prefer_recompute,
  must_recompute,
  must_cpu_offload,
};

constexpr bool is_recomputed(MemoryPolicy policy) {
  return policy == MemoryPolicy::prefer_recompute || policy == MemoryPolicy::must_recompute;
}

// Returns the name in torch, such as "MUST_SAVE"; empty for none.
std::string_view to_string(MemoryPolicy policy);
// Returns nullopt if there is no policy with this name.
std::optional<MemoryPolicy> parse_memory_policy(std::string_view name);
// The names that parse_memory_policy knows, for messages: "MUST_SAVE, PREFER_SAVE, ...".
std::string memory_policy_names();

}  // namespace jointer
