#include "core/process/gpus.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <vector>

#include "core/base/characters.h"
#include "core/base/number_text.h"
#include "core/base/take_part.h"

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

int named_gpus(std::string_view visible, int gpus) {
  std::vector<std::string> entries;
  while (!visible.empty()) {
    std::string entry(take_part(visible, ','));
    std::erase(entry, ' ');
    if (is_digits(entry)) {
      const auto index = number_of<int>(entry);
      if (!index || *index >= gpus) break;
      entry = std::to_string(*index);
    } else if (!entry.starts_with("GPU-") && !entry.starts_with("MIG-")) {
      break;
    }
    if (std::ranges::find(entries, entry) != entries.end()) return 0;
    entries.push_back(std::move(entry));
  }
  return static_cast<int>(entries.size());
}

int visible_gpus(const std::string& root) {
  const fs::path devices = fs::path(root) / "dev";
  std::error_code status;
  const int files = device_files(devices);
  if (files == 0 && !fs::exists(devices / "dxg", status)) return 0;
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  if (visible == nullptr) return std::max(files, 1);
  return named_gpus(visible, files == 0 ? std::numeric_limits<int>::max() : files);
}

std::string only_gpu(int index) {
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  if (visible == nullptr) return std::to_string(index);
  std::string_view rest = visible, entry;
  for (int i = 0; i <= index; ++i) entry = take_part(rest, ',');
  std::string name(entry);
  std::erase(name, ' ');
  return name;
}

}  // namespace jointer
