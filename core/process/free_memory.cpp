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

// Calls `visit(folder, files)` for each control group of this process and each of their ancestors.
template <class Visit>
void for_each_group(const fs::path& root, Visit visit) {
  // Lines such as "0::/user.slice" (version 2) and "4:memory:/docker/1f" (version 1).
  std::ifstream groups(root / "proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const auto name = line.find(':');
    const auto path = name == std::string::npos ? name : line.find(':', name + 1);
    if (path == std::string::npos) continue;
    const std::string_view controller = std::string_view(line).substr(name + 1, path - name - 1);
    if (!controller.empty() && controller != "memory") continue;
    const fs::path top = root / (controller.empty() ? "sys/fs/cgroup" : "sys/fs/cgroup/memory");
    // A group outside of the process's namespace has a path such as "/../other".
    const fs::path group = fs::path(line.substr(path + 1)).lexically_normal().relative_path();
    fs::path folder = (top / group).lexically_normal();
    for (const fs::path end = top.parent_path(); !folder.empty() && folder != end;
         folder = folder.parent_path())
      visit(folder, controller.empty() ? kVersion2 : kVersion1);
  }
}

// The lower of two numbers, either of which may be unknown.
std::optional<std::int64_t> lower(std::optional<std::int64_t> a, std::optional<std::int64_t> b) {
  return a && b ? std::min(*a, *b) : a ? a : b;
}

// The value of `key` in proc/meminfo, converted from kilobytes to bytes.
std::optional<std::int64_t> machine_bytes(const fs::path& root, std::string_view key) {
  const auto kilobytes = value_in(root / "proc/meminfo", key);
  return kilobytes ? std::optional(*kilobytes * 1024) : std::nullopt;
}

}  // namespace

std::int64_t free_memory(const std::string& root) {
  std::optional<std::int64_t> bytes = machine_bytes(root, "MemAvailable:");
  for_each_group(root, [&](const fs::path& folder, const ControlFiles& files) {
    const auto limit = number_in(folder / files.limit), used = number_in(folder / files.used);
    if (!limit || !used) return;
    // Page cache that the kernel can reclaim counts as free.
    const std::int64_t reclaimable =
        value_in(folder / "memory.stat", files.reclaimable).value_or(0);
    bytes = lower(bytes, std::max<std::int64_t>(*limit - *used + reclaimable, 0));
  });
  return bytes.value_or(0);
}

std::int64_t memory_limit(const std::string& root) {
  std::optional<std::int64_t> bytes = machine_bytes(root, "MemTotal:");
  for_each_group(root, [&](const fs::path& folder, const ControlFiles& files) {
    bytes = lower(bytes, number_in(folder / files.limit));
  });
  return bytes.value_or(0);
}

std::int64_t memory_share(std::int64_t free_bytes, int ranks) {
  return free_bytes / 10 * 9 / std::max(1, ranks);
}

}  // namespace jointer
