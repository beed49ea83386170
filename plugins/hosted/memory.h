#pragma once

#include <cstdint>

namespace jointer {

// Resident bytes of a process; 0 where the system does not say.
std::int64_t resident_bytes(std::int64_t pid);
// Of all processes of a group. Looks at every process there is: milliseconds.
std::int64_t group_resident_bytes(std::int64_t group);

// Three quarters of what this process may use: of the machine's memory, or of its control group's
// limit where that is less.
std::int64_t default_memory_limit();

}  // namespace jointer
