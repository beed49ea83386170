#pragma once

// What `jointer apply --passes` does: runs a pipeline and says what each step did.

#include "app/cli/commands/pass_options.h"

namespace jointer::cli {

struct ApplyPasses {
  GraphOptions graph;
  EstimatorOptions estimator;
  PipelineOptions pipeline;
  std::string output, recipe;  // files to write; empty: none
  std::string snapshots;       // folder for the graph after each step; empty: none
  std::string saved_pipeline;  // file for the pipeline; empty: none
  std::string graph_trainer;   // Python file that registers the recipe there; empty: none
  std::string reproducer, budget, optimizer = "none";
  bool decisions = false, json = false;
};

// `command`: whose options these are.
Result<int> apply_passes(const ApplyPasses& options, const CLI::App& command);

}  // namespace jointer::cli
