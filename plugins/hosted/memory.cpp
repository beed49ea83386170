#include "plugins/hosted/memory.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>

#include "core/base/characters.h"
#include "core/process/free_memory.h"

namespace jointer {
namespace {

std::int64_t resident_of(const std::filesystem::path& folder) {
  std::ifstream statm(folder / "statm");
  std::int64_t size = 0, resident = 0;
  statm >> size >> resident;
  return resident * ::sysconf(_SC_PAGESIZE);
}

// The process group, which is the fifth field of `stat`. The second field is a name in parentheses
// and may contain any character.
std::int64_t group_of(const std::filesystem::path& folder) {
  std::ifstream file(folder / "stat");
  std::string line;
  std::getline(file, line);
  const auto end = line.rfind(')');
  if (end == std::string::npos) return 0;
  std::istringstream words(line.substr(end + 1));
  std::string state;
  std::int64_t parent = 0, group = 0;
  words >> state >> parent >> group;
  return group;
}

}  // namespace

std::int64_t resident_bytes(std::int64_t pid) {
  return resident_of(std::filesystem::path("/proc") / std::to_string(pid));
}

std::int64_t group_resident_bytes(std::int64_t group) {
  namespace fs = std::filesystem;
  std::int64_t bytes = 0;
  std::error_code status;
  for (fs::directory_iterator it("/proc", status), last; !status && it != last;
       it.increment(status)) {
    const std::string name = it->path().filename().string();
    if (is_digits(name) && group_of(it->path()) == group) bytes += resident_of(it->path());
  }
  return bytes;
}

std::int64_t default_memory_limit() {
  const std::int64_t bytes = memory_limit();
  return (bytes > 0 ? bytes : std::numeric_limits<std::int64_t>::max()) / 4 * 3;
}

}  // namespace jointer
