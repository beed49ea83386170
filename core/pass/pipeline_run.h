#pragma once

// Runs a pipeline, step by step, and says what each step did.

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

// What a graph costs, as a step is judged by.
struct StepFigures {
  Figures figures;
  std::int64_t communication_ns = 0;  // collectives, summed
  std::size_t hidden = 0, collectives = 0;
  friend bool operator==(const StepFigures&, const StepFigures&) = default;
};
Result<StepFigures> step_figures(const Graph& graph, const AnalysisOptions& options);
// The same for a caller that has the estimator, which is then not looked up in `options`.
StepFigures step_figures(const Graph& graph, const Estimator& estimator,
                         const AnalysisOptions& options);

// Runs a pass that may throw, as a plugin may: an exception becomes an error (run).
Result<void> run_guarded(const Pass& pass, Graph& graph, const Arguments& arguments,
                         PassContext& context);

struct StepResult {
  std::string step;  // as the pipeline writes it
  std::int64_t ns = 0;
  std::size_t moved = 0, added = 0, removed = 0, changed = 0, retagged = 0;
  std::size_t merged = 0;  // collectives that are gone while others came in their place
  std::vector<Decision> decisions;
  std::vector<PassTable> tables;
  StepFigures before, after;
  // What it did as primitive changes, by the step's name; no changes where a new graph was made
  // that no edit leads to (a pair out of a joint graph), and `edit_refusal` then says why.
  Edit edit;
  // The same in the parts that the pass says, each as readable as it can be; else the edit alone,
  // and none where it has no changes.
  std::vector<Edit> edits;
  std::string edit_refusal;
  RanSteps ran;
  std::shared_ptr<const Graph> graph;  // after it
};

struct PipelineRun {
  std::vector<StepResult> steps;  // those that were done
  // Why the last one failed; the graph is then as after the step before it.
  std::optional<Error> error;
  std::string failed_step;
};

// Runs one step on `before`; whether it is enabled is not asked.
// Error (usage): there is no such pass, or what it was told. Error (run, cancelled): why it failed.
// Each with the pass's name first; `before` is as it was.
Result<StepResult> run_step(const Graph& before, const PipelineStep& step,
                            const PassRegistry& registry, const PassContext::Options& options);

// Disabled steps are passed over. `done`: told after each step. Error (usage): the pipeline does
// not fit the registry, or the order breaks upstream's rules (pipeline_rules.h); nothing was run
// then.
Result<PipelineRun> run_pipeline(const Graph& graph, const Pipeline& pipeline,
                                 const PassRegistry& registry, const PassContext::Options& options,
                                 const std::function<void(const StepResult&)>& done = {});

// A name in the folder (empty: the current one) for a reproducer of this pass, that no file has
// yet.
std::string unused_reproducer_path(const std::string& folder, const std::string& pass);

// How a step was run, beside what the pipeline says.
struct RunSettings {
  std::optional<std::int64_t> peak_limit;           // bytes
  std::vector<std::string> plugins, python_passes;  // where code of others came from: whole paths
  std::vector<std::string> options;                 // of a command line: "--device", "h100"
  friend bool operator==(const RunSettings&, const RunSettings&) = default;
};

// What is needed to see a failure again, in one file that is a capture too: the graph with the
// pipeline, the error and the settings beside it. Error (run): it could not be written.
Result<void> write_reproducer(const std::string& path, const Graph& graph,
                              const PipelineStep& failed, const Error& error,
                              const RunSettings& settings = {});
// What a reproducer says beside its graph; nothing where the graph comes from no reproducer. It
// runs nothing: what `settings` name is code of others.
struct Reproduced {
  std::string pipeline, error;
  RunSettings settings;
};
std::optional<Reproduced> reproduced(const Graph& graph);

}  // namespace jointer
