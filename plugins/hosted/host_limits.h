#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace jointer {

struct HostLimits {
  std::optional<std::chrono::milliseconds> deadline = std::chrono::minutes(10);
  std::int64_t memory_bytes = 0;  // 0: default_memory_limit()
};

}  // namespace jointer
