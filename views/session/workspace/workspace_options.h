#pragma once

// The options for computing estimates, in the form that a workspace stores.

#include "core/schedule/analysis.h"
#include "core/workspace/workspace.h"

namespace jointer::views {

WorkspaceOptions to_workspace(const AnalysisOptions& options);

// Returns `options` with those that the workspace contains replaced; invalid ones are ignored.
AnalysisOptions with_workspace(AnalysisOptions options, const WorkspaceOptions& saved);

}  // namespace jointer::views
