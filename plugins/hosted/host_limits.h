#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace jointer {

// The limits of one request.
struct HostLimits {
  // From the start of the host; nullopt: no deadline.
  std::optional<std::chrono::milliseconds> deadline = std::chrono::minutes(10);
  // Resident bytes of the host and the processes that it starts; 0: default_memory_limit().
  std::int64_t memory_bytes = 0;
};

}  // namespace jointer
