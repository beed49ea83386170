#pragma once

#include <memory>

#include "core/pass/pipeline_run.h"

namespace jointer::views {

// A step of a pipeline that was run, with the graph that it was run on.
struct ReportedStep {
  std::shared_ptr<const Graph> before;
  std::shared_ptr<const StepResult> result;
};

}  // namespace jointer::views
