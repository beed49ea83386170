#pragma once

#include <sys/types.h>

#include "core/process/file_descriptor.h"

namespace jointer {

// Returns a file descriptor that becomes readable when the process ends, or an empty one if the
// process does not exist or the kernel has no pidfd.
FileDescriptor open_process(pid_t pid);

}  // namespace jointer
