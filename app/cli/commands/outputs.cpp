#include "app/cli/commands/outputs.h"

#include <unistd.h>

#include <algorithm>
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
  // Pipes and devices are written to directly.
  if (fs::exists(target, none) && !fs::is_regular_file(target, none)) return {};
  return check_folder(folder_of(target), path);
}

// Regular files are replaced. Pipes and devices can receive several outputs, one after another.
bool is_replaced(const fs::path& path) {
  std::error_code none;
  return !fs::exists(path, none) || fs::is_regular_file(path, none);
}

bool is_same_output(const std::string& a, const std::string& b) {
  if (a.empty() || b.empty()) return false;
  if (a == "-" || b == "-") return a == b;
  std::error_code none;
  return is_replaced(a) && is_replaced(b) &&
         fs::weakly_canonical(fs::absolute(a, none), none) ==
             fs::weakly_canonical(fs::absolute(b, none), none);
}

}  // namespace

Result<void> check_outputs(const std::vector<OutputFile>& outputs,
                           const std::vector<std::string>& inputs) {
  for (const OutputFile& output : outputs) JOINTER_CHECK(check_output(output.path));
  for (auto one = outputs.begin(); one != outputs.end(); ++one) {
    if (one->path.empty()) continue;
    const auto other = std::find_if(one + 1, outputs.end(), [&](const OutputFile& each) {
      return is_same_output(one->path, each.path);
    });
    if (other != outputs.end())
      return fail(Error::Kind::usage, "options {} and {} both write to {}; give each its own file",
                  one->option, other->option, one->path == "-" ? "standard output" : one->path);
    if (one->path != "-" && std::ranges::any_of(inputs, [&](const std::string& input) {
          return input != "-" && is_same_output(one->path, input);
        }))
      return fail(Error::Kind::usage, "option {}: {} is an input; choose another file", one->option,
                  one->path);
  }
  return {};
}

bool fills_standard_output(const std::vector<OutputFile>& outputs) {
  return std::ranges::find(outputs, "-", &OutputFile::path) != outputs.end();
}

Result<void> check_output_folder(const std::string& folder) {
  if (folder.empty()) return {};
  std::error_code none;
  fs::path nearest = fs::absolute(folder, none);
  while (!fs::exists(nearest, none) && nearest.has_relative_path()) nearest = nearest.parent_path();
  return check_folder(nearest, folder);
}

}  // namespace jointer::cli
