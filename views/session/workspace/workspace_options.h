#pragma once

// The options for computing estimates, in the form that a workspace stores.

#include "core/schedule/analysis.h"
#include "core/workspace/workspace.h"

namespace jointer::views {

WorkspaceOptions to_workspace(const AnalysisOptions& options);

// Returns `options` with the values that the workspace contains. Ignores an invalid optimizer or
// number of GPUs, but does not check the names of the device and the estimator. The execution is
// eager if the workspace contains no valid one.
AnalysisOptions with_workspace(AnalysisOptions options, const WorkspaceOptions& saved);

}  // namespace jointer::views
