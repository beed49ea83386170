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
  // Without --passes, the result does nothing. `backend_is_given`: the user chose the backend;
  // otherwise the request gets the pipeline's backend. Error: see PipelineOptions::pipeline and
  // backend_of.
  static Result<BenchPasses> prepare(const PipelineOptions& options, bool backend_is_given,
                                     BenchmarkRequest& request);

  // Runs the passes. `graph`, the graph of the first rank, becomes their result, and the request
  // names the files of all ranks, which live as long as this object. `options` opens further files
  // like the first one. Error: see run_passes.
  Result<void> run(const GraphOptions& options, const EstimatorRequest& estimator, Graph& graph,
                   FittedRequest& fitted);

  [[nodiscard]] ProgramSource source() const { return source_; }
  [[nodiscard]] const std::string& text() const { return text_; }  // empty without passes

 private:
  // Like upstream, interprets a graph that has nothing to compile, and adds a note.
  void interpret_without_regions(const Graph& graph, FittedRequest& fitted) const;
  void record(FittedRequest& fitted) const;

  PassRegistry registry_;
  Pipeline pipeline_;
  PluginOptions plugins_;
  std::string text_;
  // The pipeline asks for compiled regions or for a CUDA graph, and the user chose no backend.
  bool is_regional_ = false, is_recorded_ = false;
  ProgramSource source_ = ProgramSource::files;
  std::optional<TemporaryFolder> folder_;
};

}  // namespace jointer::cli
