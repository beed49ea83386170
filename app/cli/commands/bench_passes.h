#pragma once

// The passes of `jointer bench --passes`.

#include <optional>
#include <string>
#include <vector>

#include "app/cli/commands/pass_options.h"
#include "app/launch/benchmark.h"
#include "core/process/temporary_folder.h"

namespace jointer::cli {

// Runs passes before a benchmark, separately for each rank that has its own file.
class BenchPasses {
 public:
  // If the options name no passes, run() of the returned object does nothing. `backend_is_given`:
  // true if the user chose the backend. If false, `request` gets the backend that the pipeline
  // selects, if any. Error: the passes cannot be loaded, or the pipeline or its backend is invalid.
  static Result<BenchPasses> prepare(const PipelineOptions& options, bool backend_is_given,
                                     BenchmarkRequest& request);

  // Runs the passes on `graph`, the first rank's graph, and replaces it with the result. If each
  // rank has its own file, also opens the graphs of the other ranks with `options`, runs the passes
  // on them, and makes `fitted` refer to files with all results. The files exist as long as this
  // object. Error: a pass fails, or a graph cannot be read or written.
  Result<void> run(const GraphOptions& options, const EstimatorRequest& estimator, Graph& graph,
                   FittedRequest& fitted);

  [[nodiscard]] ProgramSource source() const { return source_; }
  [[nodiscard]] const std::string& text() const { return text_; }  // empty if there are no passes

 private:
  // Like upstream, interprets the graph if it has no regions to compile; adds a note.
  void interpret_without_regions(const Graph& graph, FittedRequest& fitted) const;
  void record(FittedRequest& fitted) const;

  PassRegistry registry_;
  Pipeline pipeline_;
  PluginOptions plugins_;
  std::string text_;
  // True if the pipeline requests compiled regions or a CUDA graph, and the user chose no backend.
  bool is_regional_ = false, is_recorded_ = false;
  ProgramSource source_ = ProgramSource::files;
  std::optional<TemporaryFolder> folder_;
};

}  // namespace jointer::cli
