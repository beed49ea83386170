#pragma once

// Stores the CUDA memory snapshots of ranks that ran out of GPU memory, in a folder next to the
// benchmark results of the desktop (history.h). Ranks on one machine share the folder.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/result.h"

namespace jointer {

class SnapshotFolder {
 public:
  // The oldest snapshots are removed first. The newest one always stays, whatever its size.
  static constexpr std::size_t kMaxFiles = 64;
  static constexpr std::uintmax_t kMaxBytes = std::uintmax_t{1} << 30;

  // Stores files in `folder`, which need not exist.
  explicit SnapshotFolder(std::string folder) : folder_(std::move(folder)) {}
  // BenchmarkHistory::default_folder() + "/snapshots".
  static std::string default_folder();

  // Writes a snapshot, removes those beyond the limits, and returns the path of the file. The name
  // contains the time, the beginning of the graph's hash, the process id and the rank. Error (run):
  // the file cannot be written.
  [[nodiscard]] Result<std::string> add(std::string_view graph_hash, int rank,
                                        std::string_view bytes) const;

  // Removes the oldest snapshots until at most this many files and bytes are left, or only the
  // newest one. Other files stay.
  void remove_oldest(std::size_t max_files, std::uintmax_t max_bytes) const;

 private:
  std::string folder_;
};

}  // namespace jointer
