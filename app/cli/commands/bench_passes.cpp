#include "app/cli/commands/bench_passes.h"

#include <algorithm>

#include "app/cli/commands/pass_run.h"
#include "app/launch/captures.h"
#include "app/launch/machine.h"
#include "core/base/bytes.h"
#include "core/capture/native_writer.h"
#include "core/graph/inductor_mark.h"
#include "passes/compile/pipeline_backend.h"

namespace jointer::cli {

Result<BenchPasses> BenchPasses::prepare(const PipelineOptions& options, bool backend_is_given,
                                         BenchmarkRequest& request) {
  BenchPasses passes;
  if (!options.any()) return passes;
  JOINTER_TRY(passes.registry_, registry(options.plugins));
  JOINTER_TRY(passes.pipeline_, options.pipeline(passes.registry_));
  passes.text_ = to_text(passes.pipeline_);
  passes.plugins_ = options.plugins;
  if (backend_is_given) return passes;
  JOINTER_TRY(const std::optional<PipelineBackend> backend, backend_of(passes.pipeline_));
  if (!backend) return passes;
  request.backend = backend->backend;
  if (request.marked.empty()) request.marked = backend->marked;
  passes.is_regional_ = backend->backend == Backend::regional;
  passes.is_recorded_ = backend->is_recorded;
  return passes;
}

// As in upstream, the pass `cudagraph` combines with every other backend. On the CPU, it is skipped
// with a note.
void BenchPasses::record(FittedRequest& fitted) const {
  if (!is_recorded_) return;
  BenchmarkRequest& request = fitted.request;
  const bool is_on_cpu =
      request.on == RunOn::cpu || (request.on == RunOn::automatic && this_machine().gpus == 0);
  if (is_on_cpu) {
    fitted.notes.emplace_back("cudagraph: skipped, since CUDA graphs need a GPU");
  } else if (request.backend == Backend::interpret) {
    request.backend = Backend::cudagraph;
  } else {
    request.recorded = true;
    fitted.notes.push_back(fmt::format(
        "cudagraph: the step is replayed as a CUDA graph, including what {} compiled",
        request.backend == Backend::regional ? "regional_inductor" : "full_inductor_compilation"));
  }
}

void BenchPasses::interpret_without_regions(const Graph& graph, FittedRequest& fitted) const {
  if (!is_regional_ || !fitted.request.marked.empty()) return;
  const auto order = graph.order();
  if (std::ranges::any_of(
          order, [&](NodeId id) { return is_annotated_for_inductor(graph, graph.node(id)); }))
    return;
  fitted.request.backend = Backend::interpret;
  fitted.notes.emplace_back(
      "regional_inductor: no call is annotated with compile_with_inductor or selected by `mark`, "
      "so the graph is interpreted");
}

Result<void> BenchPasses::run(const GraphOptions& options, const EstimatorRequest& estimator,
                              Graph& graph, FittedRequest& fitted) {
  if (text_.empty()) return {};
  PassRunOptions run_options;
  run_options.analysis.estimator = estimator;
  run_options.plugins = plugins_;
  JOINTER_TRY(const PipelineRun first, run_passes(graph, pipeline_, registry_, run_options));
  const std::vector<std::string> notes = numerics_notes(first, registry_);
  fitted.notes.insert(fitted.notes.end(), notes.begin(), notes.end());
  graph = Graph(end_of(first, graph));
  interpret_without_regions(graph, fitted);
  record(fitted);
  BenchmarkRequest& request = fitted.request;
  if (!has_file_per_rank({options.file, options.backward})) {
    source_ = ProgramSource::graph;
    return {};
  }
  JOINTER_TRY(folder_, TemporaryFolder::make("jointer-passes-"));
  const std::string pattern = folder_->path("passed.{rank}.json");
  const int first_rank = request.solo.value_or(0);
  const int last_rank = request.solo ? first_rank : std::max(1, request.ranks) - 1;
  for (int rank = first_rank; rank <= last_rank; ++rank) {
    Graph of_rank;
    if (rank != first_rank) {
      GraphOptions opened = options;
      opened.file = path_of_rank(options.file, rank);
      opened.backward = path_of_rank(options.backward, rank);
      JOINTER_TRY(const Graph before, opened.open(GraphOptions::Listing::none));
      JOINTER_TRY(const PipelineRun run, run_passes(before, pipeline_, registry_, run_options));
      of_rank = end_of(run, before);
    }
    const Graph& written = rank == first_rank ? graph : of_rank;
    JOINTER_CHECK(write_bytes(path_of_rank(pattern, rank), write_native(written)));
  }
  request.program = {pattern, {}};
  request.graph_index.reset();
  return {};
}

}  // namespace jointer::cli
