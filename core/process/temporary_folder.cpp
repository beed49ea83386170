#include "core/process/temporary_folder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace jointer {

Result<TemporaryFolder> TemporaryFolder::make(const std::string& prefix) {
  const char* parent = std::getenv("TMPDIR");
  const std::string folder = parent != nullptr && *parent != '\0' ? parent : "/tmp";
  std::string path = folder + '/' + prefix + "XXXXXX";
  if (::mkdtemp(path.data()) == nullptr)
    return fail(Error::Kind::run, "cannot create a folder in {}: {}; set TMPDIR to another folder",
                folder, std::strerror(errno));
  return TemporaryFolder(std::move(path));
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace jointer
