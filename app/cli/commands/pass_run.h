#pragma once

// A pipeline run for a command: with progress on a terminal, and a reproducer of what failed.

#include <string>

#include "app/cli/commands/plugin_options.h"
#include "core/pass/pipeline_run.h"

namespace jointer::cli {

struct PassRunOptions {
  AnalysisOptions analysis;
  std::optional<std::int64_t> peak_limit;  // bytes
  // Where a reproducer of a failure goes. Empty: into the current folder, under a name that no file
  // has, and only of what is not the person's own mistake.
  std::string reproducer;
  PluginOptions plugins;  // as the reproducer's command needs them
};

// All steps were done. Error: what failed, and where its reproducer is.
Result<PipelineRun> run_passes(const Graph& graph, const Pipeline& pipeline,
                               const PassRegistry& registry, const PassRunOptions& options);

// The command that runs a reproducer's step again as it was run.
std::string again_command(const std::string& path, const Reproduced& reproduced);

// A sentence for every step that did something which may change outputs.
std::vector<std::string> numerics_notes(const PipelineRun& run, const PassRegistry& registry);

// The graph that a run ended with; `graph` if it had no steps.
const Graph& end_of(const PipelineRun& run, const Graph& graph);

}  // namespace jointer::cli
