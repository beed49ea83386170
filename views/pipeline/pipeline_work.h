#pragma once

// Runs steps of a pipeline one after another: the part of a run that is on a working thread.

#include <QPromise>
#include <atomic>
#include <memory>
#include <vector>

#include "views/pipeline/pipeline_draft.h"
#include "views/pipeline/step_outcome.h"

namespace jointer::views {

// What a run shares with who watches it.
struct RunShare {
  std::atomic<bool> is_cancelled = false;
  std::atomic<double> done = 0;  // of the step that runs, 0 .. 1
};

struct PipelineWork {
  std::shared_ptr<const Graph> graph;  // where the first step begins
  std::vector<DraftStep> steps;        // all of them run
  std::shared_ptr<const PassRegistry> registry;
  PassContext::Options options;  // without report and is_cancelled
  QString reproducer_folder;
  std::shared_ptr<RunShare> share = std::make_shared<RunShare>();
};

// One is there. Who takes it adds what was printed.
struct StepDone {
  std::shared_ptr<StepOutcome> outcome;
  std::shared_ptr<StepFailure> failure;
};

// Adds a result as each step ends; nothing follows a failure. A step that fails other than by what
// it was told, or by being cancelled, leaves a reproducer.
void work_pipeline(QPromise<StepDone>& promise, const PipelineWork& work);

}  // namespace jointer::views
