#pragma once

// The options for computing estimates as a workspace stores them.

#include "core/schedule/analysis.h"
#include "core/workspace/workspace.h"

namespace jointer::views {

WorkspaceOptions to_workspace(const AnalysisOptions& options);

// Replaces the options that the workspace contains; invalid ones are ignored.
AnalysisOptions with_workspace(AnalysisOptions options, const WorkspaceOptions& saved);

}  // namespace jointer::views
