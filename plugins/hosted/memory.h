#pragma once

#include <cstdint>

namespace jointer {

// Resident bytes of a process; 0 if the system does not report them.
std::int64_t resident_bytes(std::int64_t pid);
// Resident bytes of all processes of a group. Scans every process of the system, which takes
// milliseconds.
std::int64_t group_resident_bytes(std::int64_t group);

// Three quarters of the memory that this process may use, in bytes: the machine's memory, or the
// limit of its control group if that is lower.
std::int64_t default_memory_limit();

}  // namespace jointer
