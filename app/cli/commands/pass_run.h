#pragma once

// Runs a pipeline for a command: shows progress on a terminal, and writes a reproducer if a step
// fails.

#include <string>

#include "app/cli/commands/plugin_options.h"
#include "core/pass/pipeline_run.h"

namespace jointer::cli {

struct PassRunOptions {
  AnalysisOptions analysis;
  std::optional<std::int64_t> peak_limit;  // bytes
  // Where to write the reproducer of a failure. If empty, it gets an unused name in the current
  // folder, but invalid options and unreadable files produce no reproducer.
  std::string reproducer;
  PluginOptions plugins;  // as the reproducer's command needs them
};

// Runs all steps. Error: the failure and the command that reproduces it.
Result<PipelineRun> run_passes(const Graph& graph, const Pipeline& pipeline,
                               const PassRegistry& registry, const PassRunOptions& options);

// The command that runs a reproducer's step the way it was run.
std::string again_command(const std::string& path, const Reproduced& reproduced);

// One sentence for each step that may have changed outputs.
std::vector<std::string> numerics_notes(const PipelineRun& run, const PassRegistry& registry);

// The graph after the last step, or `graph` if there were no steps.
const Graph& end_of(const PipelineRun& run, const Graph& graph);

}  // namespace jointer::cli
