#pragma once

// Runs a pipeline step by step and reports what each step did.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/edit/difference.h"
#include "core/pass/registry.h"
#include "core/schedule/what_if.h"

namespace jointer {

// The metrics by which a pipeline step is judged, for one graph.
struct StepFigures {
  Figures figures;
  std::int64_t compute_ns = 0;  // the sum over kernels
  // Copies to and from the host do not count.
  std::int64_t communication_ns = 0;        // the sum over collectives
  std::size_t hidden = 0, collectives = 0;  // the number of hidden ones, and of all
  friend bool operator==(const StepFigures&, const StepFigures&) = default;
};
// Errors: same as make_estimator.
Result<StepFigures> step_figures(const Graph& graph, const AnalysisOptions& options);
// The same, with this estimator instead of the one that `options` names.
StepFigures step_figures(const Graph& graph, const Estimator& estimator,
                         const AnalysisOptions& options);

// Runs a pass that may throw, such as a plugin's. Error (run): the pass threw an exception. Other
// errors: same as the pass.
Result<void> run_guarded(const Pass& pass, Graph& graph, const Arguments& arguments,
                         PassContext& context);

struct StepResult {
  std::string step;     // as written in a pipeline
  std::int64_t ns = 0;  // the run time of the pass
  std::size_t moved = 0, added = 0, removed = 0, changed = 0, retagged = 0;
  std::size_t merged = 0;  // removed collectives, if others were added
  std::vector<Decision> decisions;
  std::vector<PassTable> tables;
  StepFigures before, after;
  // The step's changes as one edit, titled after the step. If no edit leads to the resulting graph,
  // such as from a joint graph to a pair, it has no changes, and `edit_refusal` says why.
  Edit edit;
  // The edits that the pass reported with PassContext::add_edit. If there are none: only `edit`, or
  // nothing if `edit` has no changes. Empty if there is an `edit_refusal`.
  std::vector<Edit> edits;
  std::string edit_refusal;
  RanSteps ran;
  std::shared_ptr<const Graph> graph;  // after the step
};

struct PipelineRun {
  std::vector<StepResult> steps;  // the successful ones
  // The error of `failed_step`, or its cancellation. The result is then the graph before that step.
  std::optional<Error> error;
  std::string failed_step;
};

// Runs one pipeline step on a copy of `before`, even if the step is disabled. Error (usage): the
// pass does not exist, or its arguments are invalid. Error (run): the pass threw an exception or
// produced an invalid graph. Other errors are those of the pass and of make_estimator. If the pass
// fails, the message begins with its name.
Result<StepResult> run_step(const Graph& before, const PipelineStep& step,
                            const PassRegistry& registry, const PassContext::Options& options);

// Runs the enabled pipeline steps. `done` is called after each successful step. Error (usage): a
// pass or an argument is invalid, the order breaks upstream's rules (pipeline_rules.h), or a step
// cannot be applied to its graph (graph_rules.h). The pipeline is then not run. Other errors: same
// as make_estimator. A failure of a step is not an error of this function; PipelineRun::error
// reports it.
Result<PipelineRun> run_pipeline(const Graph& graph, const Pipeline& pipeline,
                                 const PassRegistry& registry, const PassContext::Options& options,
                                 const std::function<void(const StepResult&)>& done = {});
// The same for callers that need the result of the whole pipeline: if a step fails, this function
// fails.
Result<PipelineRun> run_whole_pipeline(const Graph& graph, const Pipeline& pipeline,
                                       const PassRegistry& registry,
                                       const PassContext::Options& options);

// An unused path for a reproducer of this pass in `folder`, or in the current folder if `folder` is
// empty.
std::string unused_reproducer_path(const std::string& folder, const std::string& pass);

// Settings of a run that are not part of the pipeline.
struct RunSettings {
  std::optional<std::int64_t> peak_limit;           // bytes
  std::vector<std::string> plugins, python_passes;  // absolute paths of third-party code
  std::vector<std::string> options;                 // of the command line: "--device", "h100"
  friend bool operator==(const RunSettings&, const RunSettings&) = default;
};

// Writes a file that reproduces a failure: a capture of the graph that also contains the failed
// step, the error and the settings. Error (run): the file cannot be written.
Result<void> write_reproducer(const std::string& path, const Graph& graph,
                              const PipelineStep& failed, const Error& error,
                              const RunSettings& settings = {});
// The contents of a reproducer other than its graph. The paths in `settings` name third-party code,
// which is never run when a reproducer is read.
struct Reproduced {
  std::string pipeline, error;
  RunSettings settings;
};
// nullopt if the graph is not from a reproducer.
std::optional<Reproduced> reproduced(const Graph& graph);

}  // namespace jointer
