#include "tests/support/paths.h"

#include <algorithm>
#include <filesystem>

namespace jointer::test {
namespace {

void add_captures(const std::string& folder, std::vector<std::string>& paths) {
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().string().ends_with(".json.zst")) paths.push_back(entry.path().string());
}

}  // namespace

std::string source_path(const std::string& relative) {
  return std::string(JOINTER_SOURCE_DIR) + "/" + relative;
}

std::vector<std::string> sample_captures() {
  std::vector<std::string> paths;
  add_captures(source_path("resources/samples"), paths);
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::string shared_directory() {
  const std::string directory = JOINTER_SHARED_DIR;
  return std::filesystem::is_directory(directory + "/captures") ? directory : std::string();
}

std::vector<std::string> shared_captures() {
  std::vector<std::string> paths;
  if (shared_directory().empty()) return paths;
  for (const char* folder : {"/captures", "/captures/executable"})
    add_captures(shared_directory() + folder, paths);
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace jointer::test
