#pragma once

// Benchmark results of a graph, kept from one start of the desktop to the next: a file a graph, a
// result a line.

#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/bench/result.h"

namespace jointer {

// Results as lines of JSON. Node times and curves are kept of the newest, up to so many bytes.
std::vector<std::string> result_lines(std::span<const BenchmarkResult> results,
                                      std::size_t most_profile_bytes);

class BenchmarkHistory {
 public:
  // More rows than this are not kept; the oldest go first.
  static constexpr std::size_t kMostResults = 200;
  // Node times and curves are kept of the newest results, up to so many bytes.
  static constexpr std::size_t kMostProfileBytes = std::size_t{32} << 20;

  // Files are in `folder`, which need not exist.
  explicit BenchmarkHistory(std::string folder) : folder_(std::move(folder)) {}
  // $XDG_DATA_HOME/jointer/benchmarks, or ~/.local/share/jointer/benchmarks.
  static std::string default_folder();

  struct Loaded {
    std::vector<BenchmarkResult> results;  // oldest first
    // What a person should know: where a file went that could not be read in full. Or empty.
    std::string note;
  };
  // What is there of a graph, by its hash. A damaged file is renamed, so that it is neither lost
  // nor in the way; what can be read of it is given.
  [[nodiscard]] Loaded load(const std::string& graph_hash) const;

  // In place of what is there; a reader sees the old file or the new one. No results: the file
  // goes. Error (input): it cannot be written.
  Result<void> save(const std::string& graph_hash, std::span<const BenchmarkResult> results) const;

  [[nodiscard]] std::string path_of(const std::string& graph_hash) const;

 private:
  std::string folder_;
};

}  // namespace jointer
