#pragma once

#include <cstdint>

namespace jointer {

// The resident bytes of a process; 0 if the system does not report them.
std::int64_t resident_bytes(std::int64_t pid);
// The total resident bytes of all processes in a process group. Scans all processes of the system,
// which takes milliseconds.
std::int64_t group_resident_bytes(std::int64_t group);

// Three quarters, in bytes, of the memory that this process may use (memory_limit in
// core/process/free_memory.h).
std::int64_t default_memory_limit();

}  // namespace jointer
