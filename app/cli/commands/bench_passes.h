#pragma once

// What `jointer bench --passes` runs.

#include <optional>
#include <string>
#include <vector>

#include "app/cli/commands/pass_options.h"
#include "app/launch/benchmark.h"
#include "core/process/temporary_folder.h"

namespace jointer::cli {

// Passes that are run before a benchmark. They make their graphs anew for each rank that has a file
// of its own.
class BenchPasses {
 public:
  // Without --passes it does nothing from here on. `backend_is_given`: a person chose it; else it
  // is the pipeline's, and put into the request. Error: as PipelineOptions::pipeline and
  // backend_of.
  static Result<BenchPasses> prepare(const PipelineOptions& options, bool backend_is_given,
                                     BenchmarkRequest& request);

  // Runs them: `graph`, that of the first rank, becomes what it runs, and the request names the
  // files of all, which live as long as this does. `options` opens files as the first was opened.
  // Error: as run_passes.
  Result<void> run(const GraphOptions& options, const EstimatorRequest& estimator, Graph& graph,
                   FittedRequest& fitted);

  [[nodiscard]] ProgramSource source() const { return source_; }
  [[nodiscard]] const std::string& text() const { return text_; }  // empty: there are none

 private:
  // As upstream: where nothing is to be compiled the graph is interpreted. A note says so.
  void interpret_without_regions(const Graph& graph, FittedRequest& fitted) const;
  void record(FittedRequest& fitted) const;

  PassRegistry registry_;
  Pipeline pipeline_;
  PluginOptions plugins_;
  std::string text_;
  // The pipeline asks for regions to be compiled, or for a CUDA graph, and no person chose.
  bool is_regional_ = false, is_recorded_ = false;
  ProgramSource source_ = ProgramSource::files;
  std::optional<TemporaryFolder> folder_;
};

}  // namespace jointer::cli
