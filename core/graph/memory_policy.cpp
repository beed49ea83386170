#include "core/graph/memory_policy.h"

#include <array>
#include <utility>

namespace jointer {
namespace {

constexpr std::array<std::pair<std::string_view, MemoryPolicy>, 5> kPolicyNames{{
    {"MUST_SAVE", MemoryPolicy::must_save},
    {"PREFER_SAVE", MemoryPolicy::prefer_save},
    {"PREFER_RECOMPUTE", MemoryPolicy::prefer_recompute},
    {"MUST_RECOMPUTE", MemoryPolicy::must_recompute},
    {"MUST_CPU_OFFLOAD", MemoryPolicy::must_cpu_offload},
}};

}  // namespace

std::string_view to_string(MemoryPolicy policy) {
  for (const auto& [name, named] : kPolicyNames)
    if (named == policy) return name;
  return {};
}

std::optional<MemoryPolicy> parse_memory_policy(std::string_view name) {
  for (const auto& [known, policy] : kPolicyNames)
    if (known == name) return policy;
  return std::nullopt;
}

}  // namespace jointer
