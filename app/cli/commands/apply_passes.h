#pragma once

// `jointer apply --passes`: runs a pipeline on a graph and reports the result of each pipeline
// step.

#include "app/cli/commands/pass_options.h"

namespace jointer::cli {

struct ApplyPasses {
  GraphOptions graph;
  EstimatorOptions estimator;
  PipelineOptions pipeline;
  std::string output, recipe;  // files to write; empty if not requested
  // Folder for the graph before the passes and after each pipeline step; empty if not requested.
  std::string snapshots;
  std::string saved_pipeline;  // file for the pipeline; empty if not requested
  std::string graph_trainer;   // Python file that registers the recipe; empty if not requested
  std::string reproducer, budget, optimizer = "none";
  bool decisions = false, json = false;
};

// Without passes, the graph is only written. Returns the exit code. `command` is the command that
// defines the options.
Result<int> apply_passes(const ApplyPasses& options, const CLI::App& command);

}  // namespace jointer::cli
