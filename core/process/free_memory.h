#pragma once

// Determines the host memory that this process and its children may use. The control groups of a
// process, and all their ancestors, limit its memory.

#include <cstdint>
#include <string>

namespace jointer {

// The bytes that this process and its children can still allocate: the kernel's estimate of the
// available memory, within the limits of the control groups. 0 if unknown. `root`: the folder that
// contains proc and sys.
std::int64_t free_memory(const std::string& root = "/");

// The maximum number of bytes that this process and its children can have allocated at a time: the
// machine's memory or the lowest limit of the control groups, whichever is lower. 0 if unknown.
std::int64_t memory_limit(const std::string& root = "/");

// The bytes of tensors that each of `ranks` processes may allocate if they share `free_bytes`. A
// tenth of the memory is left for everything else in these processes. 0 if `free_bytes` is 0.
std::int64_t memory_share(std::int64_t free_bytes, int ranks);

}  // namespace jointer
