#include "core/process/open_process.h"

#include <sys/syscall.h>
#include <unistd.h>

namespace jointer {

FileDescriptor open_process(pid_t pid) {
#ifdef SYS_pidfd_open
  return FileDescriptor(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
#else
  static_cast<void>(pid);
  return {};
#endif
}

}  // namespace jointer
