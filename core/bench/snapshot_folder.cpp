#include "core/bench/snapshot_folder.h"

#include <fmt/chrono.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <system_error>
#include <vector>

#include "core/base/bytes.h"
#include "core/bench/history.h"

namespace jointer {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = ".pickle";

struct StoredSnapshot {
  fs::path path;
  fs::file_time_type written;
  std::uintmax_t bytes = 0;
};

// Newest first. Another rank may remove files at the same time, so files that have disappeared are
// left out.
std::vector<StoredSnapshot> snapshots_in(const std::string& folder) {
  std::vector<StoredSnapshot> found;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), last; !error && it != last; it.increment(error)) {
    if (it->path().extension() != kSuffix) continue;
    std::error_code gone;
    StoredSnapshot file{
        .path = it->path(), .written = fs::last_write_time(it->path(), gone), .bytes = 0};
    if (gone) continue;
    file.bytes = fs::file_size(file.path, gone);
    if (!gone) found.push_back(std::move(file));
  }
  std::ranges::sort(found, [](const StoredSnapshot& a, const StoredSnapshot& b) {
    return a.written != b.written ? a.written > b.written : a.path > b.path;
  });
  return found;
}

}  // namespace

std::string SnapshotFolder::default_folder() {
  return BenchmarkHistory::default_folder() + "/snapshots";
}

Result<std::string> SnapshotFolder::add(std::string_view graph_hash, int rank,
                                        std::string_view bytes) const {
  JOINTER_CHECK(make_folder(folder_));
  constexpr std::size_t kDigits = 8;
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  ::localtime_r(&now, &local);
  std::string path = fmt::format("{}/{:%Y%m%d-%H%M%S}-{}-{}-rank{}{}", folder_, local,
                                 graph_hash.substr(0, kDigits), ::getpid(), rank, kSuffix);
  JOINTER_CHECK(write_bytes(path, bytes));
  remove_oldest(kMaxFiles, kMaxBytes);
  return path;
}

void SnapshotFolder::remove_oldest(std::size_t max_files, std::uintmax_t max_bytes) const {
  const std::vector<StoredSnapshot> files = snapshots_in(folder_);
  std::uintmax_t bytes = 0;
  for (std::size_t i = 0; i < files.size(); ++i) {
    bytes += files[i].bytes;
    if (i == 0 || (i < max_files && bytes <= max_bytes)) continue;
    std::error_code error;
    fs::remove(files[i].path, error);
  }
}

}  // namespace jointer
