#include "core/workspace/sync_folder.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/process/file_descriptor.h"

namespace jointer {

Result<void> sync_folder(const std::string& folder) {
  const FileDescriptor descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // Some file systems cannot sync folders. That is not an error: the files themselves are on disk.
  if (descriptor && ::fsync(descriptor.get()) != 0 && errno != EINVAL && errno != ENOTSUP)
    return fail(Error::Kind::run, "{}: {}", folder, std::strerror(errno));
  return {};
}

}  // namespace jointer
