#pragma once

// Runs a pipeline for a command: shows progress on a terminal, and writes a reproducer if a
// pipeline step fails.

#include <string>

#include "app/cli/commands/plugin_options.h"
#include "core/pass/pipeline_run.h"

namespace jointer::cli {

struct PassRunOptions {
  AnalysisOptions analysis;
  std::optional<std::int64_t> peak_limit;  // bytes
  // The path of the reproducer, which is written after a failure. If empty, an unused name in the
  // current folder (or, if that fails, in the folder for temporary files) is chosen, and usage and
  // input errors get no reproducer.
  std::string reproducer;
  PluginOptions plugins;  // for passes that run Python, and for the reproducer's command
};

// Runs all enabled pipeline steps. Error: a step fails; the message says why and, if a reproducer
// was written, gives the command that runs it.
Result<PipelineRun> run_passes(const Graph& graph, const Pipeline& pipeline,
                               const PassRegistry& registry, const PassRunOptions& options);

// Returns the command that runs a reproducer's pipeline step with the settings of the original run.
std::string again_command(const std::string& path, const Reproduced& reproduced);

// One note for each pipeline step that may have changed outputs.
std::vector<std::string> numerics_notes(const PipelineRun& run, const PassRegistry& registry);

// The graph after the last pipeline step, or `graph` if there were no steps.
const Graph& end_of(const PipelineRun& run, const Graph& graph);

}  // namespace jointer::cli
