#pragma once

// Stores the benchmark results of graphs between runs of the desktop application: one file per
// graph, one result per line.

#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/bench/result.h"

namespace jointer {

// The results as JSON, one per line. Starting with the newest, each includes its profile
// (write_result) if the lines with profiles then have at most `max_profile_bytes` in total.
std::vector<std::string> result_lines(std::span<const BenchmarkResult> results,
                                      std::size_t max_profile_bytes);

class BenchmarkHistory {
 public:
  // Maximum number of results; the oldest are dropped first.
  static constexpr std::size_t kMaxResults = 200;
  // Maximum total size of the results that are stored with their profiles.
  static constexpr std::size_t kMaxProfileBytes = std::size_t{32} << 20;

  // Stores files in `folder`, which need not exist.
  explicit BenchmarkHistory(std::string folder) : folder_(std::move(folder)) {}
  // $XDG_DATA_HOME/jointer/benchmarks, or ~/.local/share/jointer/benchmarks.
  static std::string default_folder();

  struct Loaded {
    std::vector<BenchmarkResult> results;  // oldest first
    // A note for the user if the file could not be read in full: the problem and, if it was
    // renamed, the file's new name. Otherwise empty.
    std::string note;
  };
  // Loads the results of the graph with this hash; none if there is no file. Renames a file that is
  // damaged or cannot be read, so that it is preserved but does not block new results, and returns
  // the results in it that are readable. Reads nothing from a file of a newer Jointer, and does not
  // change it.
  [[nodiscard]] Loaded load(const std::string& graph_hash) const;

  // Replaces the stored results atomically by the last kMaxResults of `results`, which are oldest
  // first, or removes the file if `results` is empty. Error (run): the file cannot be written or
  // removed, or it has results of a newer Jointer and stays unchanged.
  Result<void> save(const std::string& graph_hash, std::span<const BenchmarkResult> results) const;

  [[nodiscard]] std::string path_of(const std::string& graph_hash) const;

 private:
  std::string folder_;
};

}  // namespace jointer
