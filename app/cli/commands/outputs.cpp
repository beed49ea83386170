#include "app/cli/commands/outputs.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace jointer::cli {
namespace {

namespace fs = std::filesystem;

Result<void> refuse(const std::string& path, int error) {
  return fail(Error::Kind::run, "{}: {}", path, std::strerror(error));
}

// Outputs are written to a temporary file and renamed, so the folder must be writable.
Result<void> check_folder(const fs::path& folder, const std::string& path) {
  std::error_code none;
  if (fs::exists(folder, none) && !fs::is_directory(folder, none)) return refuse(path, ENOTDIR);
  if (::access(folder.c_str(), W_OK | X_OK) != 0) return refuse(path, errno);
  return {};
}

fs::path folder_of(const fs::path& path) {
  const fs::path folder = path.parent_path();
  return folder.empty() ? fs::path(".") : folder;
}

Result<void> check_output(const std::string& path) {
  if (path.empty() || path == "-") return {};
  std::error_code none;
  const fs::path target =
      fs::is_symlink(path, none) ? fs::weakly_canonical(path, none) : fs::path(path);
  if (fs::is_directory(target, none)) return refuse(path, EISDIR);
  // A pipe or a device is written to as it is.
  if (fs::exists(target, none) && !fs::is_regular_file(target, none)) return {};
  return check_folder(folder_of(target), path);
}

}  // namespace

Result<void> check_outputs(std::initializer_list<std::string> files) {
  for (const std::string& file : files) JOINTER_CHECK(check_output(file));
  return {};
}

Result<void> check_output_folder(const std::string& folder) {
  if (folder.empty()) return {};
  std::error_code none;
  fs::path nearest = fs::absolute(folder, none);
  while (!fs::exists(nearest, none) && nearest.has_relative_path()) nearest = nearest.parent_path();
  return check_folder(nearest, folder);
}

}  // namespace jointer::cli
