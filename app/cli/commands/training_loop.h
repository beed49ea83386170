#pragma once

// Options that simulate a training loop around a pair or a flat training step, and the resulting
// peaks of allocated and reserved memory over several training steps.

#include "app/cli/commands/options.h"
#include "core/schedule/training_run.h"

namespace jointer::cli {

// [--loop 3] [--loss none|cross_entropy|loss_parallel] [--unboxed] [--expandable-segments]
// [--workspace-of DEVICE]
struct LoopOptions {
  int steps = 0;  // number of training steps; 0 if there is no loop
  std::string loss = "none", device;
  bool unboxed = false, expandable_segments = false;

  void add_to(CLI::App& command);
  // Errors: same as simulate_training and, for the device of --workspace-of, load_device.
  [[nodiscard]] Result<TrainingRun> run(const Graph& graph, const std::string& optimizer) const;
};

Json to_json(const TrainingRun& run, const Graph& graph);
std::string loop_table(const TrainingRun& run, const Graph& graph);

}  // namespace jointer::cli
