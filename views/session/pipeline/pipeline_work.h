#pragma once

// The part of a pipeline run that happens on a worker thread.

#include <atomic>
#include <memory>
#include <vector>

#include "views/session/pipeline/pipeline_draft.h"
#include "views/session/pipeline/step_outcome.h"
#include "views/session/work/job.h"

namespace jointer::views {

// State shared between a run and its observer.
struct RunShare {
  std::atomic<double> done = 0;  // progress of the running step, from 0 to 1
};

struct PipelineWork {
  std::shared_ptr<const Graph> graph;  // input of the first step
  std::vector<DraftStep> steps;        // every step is run
  std::shared_ptr<const PassRegistry> registry;
  PassContext::Options options;  // except for `report` and `is_cancelled`
  QString reproducer_folder;
  std::shared_ptr<RunShare> share = std::make_shared<RunShare>();
};

// Exactly one of the members is set. The receiver adds the printed lines.
struct StepDone {
  std::shared_ptr<StepOutcome> outcome;
  std::shared_ptr<StepFailure> failure;
};

// Runs the steps in order. Reports each step's result when the step ends, and stops at the first
// failure or, without a report, when the job is cancelled. Writes a reproducer for an Error (run).
void work_pipeline(const PipelineWork& work, const Reporter<StepDone>& job);

}  // namespace jointer::views
