#include "core/process/gpus.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "core/base/characters.h"

namespace jointer {
namespace {

namespace fs = std::filesystem;

int device_files(const fs::path& folder) {
  constexpr std::string_view kPrefix = "nvidia";
  int count = 0;
  std::error_code status;
  for (fs::directory_iterator it(folder, status), last; !status && it != last;
       it.increment(status)) {
    const std::string name = it->path().filename().string();
    if (name.starts_with(kPrefix) && is_digits(std::string_view(name).substr(kPrefix.size())))
      ++count;
  }
  return count;
}

}  // namespace

int named_gpus(std::string_view visible) {
  int count = 0;
  while (!visible.empty()) {
    const std::size_t end = std::min(visible.find(','), visible.size());
    std::string entry(visible.substr(0, end));
    std::erase(entry, ' ');
    if (!is_digits(entry) && !entry.starts_with("GPU-") && !entry.starts_with("MIG-")) break;
    ++count;
    visible.remove_prefix(std::min(end + 1, visible.size()));
  }
  return count;
}

int visible_gpus(const std::string& root) {
  const fs::path devices = fs::path(root) / "dev";
  std::error_code status;
  int count = device_files(devices);
  if (count == 0 && fs::exists(devices / "dxg", status)) count = 1;
  if (count == 0) return 0;
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  return visible == nullptr ? count : named_gpus(visible);
}

}  // namespace jointer
