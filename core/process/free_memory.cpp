#include "core/process/free_memory.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>

namespace jointer {
namespace {

namespace fs = std::filesystem;

// The first number after the word `key` in a file of lines such as "MemAvailable:  123 kB".
std::optional<std::int64_t> value_in(const fs::path& path, std::string_view key) {
  std::ifstream file(path);
  std::string word, rest;
  for (std::int64_t value = 0; file >> word >> value; std::getline(file, rest))
    if (word == key) return value;
  return std::nullopt;
}

// The number in a file; nullopt if there is no such file, or if it contains a word, such as "max".
std::optional<std::int64_t> number_in(const fs::path& path) {
  std::ifstream file(path);
  std::int64_t value = 0;
  return file >> value ? std::optional(value) : std::nullopt;
}

// The names of files in one version of control groups.
struct ControlFiles {
  const char* limit;
  const char* used;
  const char* reclaimable;  // a key of memory.stat
};
constexpr ControlFiles kVersion1{"memory.limit_in_bytes", "memory.usage_in_bytes",
                                 "total_inactive_file"};
constexpr ControlFiles kVersion2{"memory.max", "memory.current", "inactive_file"};

// The memory that is left within the limits of a control group and its ancestors; nullopt without a
// limit. Page cache that the kernel can reclaim counts as free.
std::optional<std::int64_t> left_in_groups(const fs::path& top, const std::string& group,
                                           const ControlFiles& files) {
  std::optional<std::int64_t> left;
  fs::path folder = (top / fs::path(group).relative_path()).lexically_normal();
  const fs::path end = top.parent_path();
  for (; !folder.empty() && folder != end; folder = folder.parent_path()) {
    const auto limit = number_in(folder / files.limit), used = number_in(folder / files.used);
    if (!limit || !used) continue;
    const std::int64_t reclaimable =
        value_in(folder / "memory.stat", files.reclaimable).value_or(0);
    const std::int64_t here = std::max<std::int64_t>(*limit - *used + reclaimable, 0);
    left = std::min(left.value_or(here), here);
  }
  return left;
}

}  // namespace

std::int64_t free_memory(const std::string& root) {
  const fs::path base(root);
  std::optional<std::int64_t> bytes = value_in(base / "proc/meminfo", "MemAvailable:");
  if (bytes) *bytes *= 1024;
  // Lines such as "0::/user.slice" (version 2) and "4:memory:/docker/1f" (version 1).
  std::ifstream groups(base / "proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const auto name = line.find(':');
    const auto path = name == std::string::npos ? name : line.find(':', name + 1);
    if (path == std::string::npos) continue;
    const std::string_view controller = std::string_view(line).substr(name + 1, path - name - 1);
    std::optional<std::int64_t> left;
    if (controller.empty())
      left = left_in_groups(base / "sys/fs/cgroup", line.substr(path + 1), kVersion2);
    else if (controller == "memory")
      left = left_in_groups(base / "sys/fs/cgroup/memory", line.substr(path + 1), kVersion1);
    if (left) bytes = std::min(bytes.value_or(*left), *left);
  }
  return bytes.value_or(0);
}

std::int64_t memory_share(std::int64_t free_bytes, int ranks) {
  return free_bytes / 10 * 9 / std::max(1, ranks);
}

}  // namespace jointer
