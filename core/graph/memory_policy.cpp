#include "core/graph/memory_policy.h"

#include "core/base/name_table.h"

namespace jointer {
namespace {

constexpr NameTable<MemoryPolicy, 5> kPolicyNames{{
    {"MUST_SAVE", MemoryPolicy::must_save},
    {"PREFER_SAVE", MemoryPolicy::prefer_save},
    {"PREFER_RECOMPUTE", MemoryPolicy::prefer_recompute},
    {"MUST_RECOMPUTE", MemoryPolicy::must_recompute},
    {"MUST_CPU_OFFLOAD", MemoryPolicy::must_cpu_offload},
}};

}  // namespace

std::string_view to_string(MemoryPolicy policy) {
  return name_in(kPolicyNames, policy);
}

std::optional<MemoryPolicy> parse_memory_policy(std::string_view name) {
  return value_in(kPolicyNames, name);
}

std::string memory_policy_names() {
  std::string names;
  for (const auto& [name, policy] : kPolicyNames) {
    if (!names.empty()) names += ", ";
    names += name;
  }
  return names;
}

}  // namespace jointer
