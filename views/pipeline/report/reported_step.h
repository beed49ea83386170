#pragma once

#include <memory>

#include "core/pass/pipeline_run.h"

namespace jointer::views {

// The result of a pipeline step and the graph that it ran on.
struct ReportedStep {
  std::shared_ptr<const Graph> before;
  std::shared_ptr<const StepResult> result;
};

}  // namespace jointer::views
