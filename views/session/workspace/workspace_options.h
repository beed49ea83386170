#pragma once

// The options for computing estimates, in the form that a workspace stores.

#include <string>

#include "core/schedule/analysis.h"
#include "core/workspace/workspace.h"

namespace jointer::views {

WorkspaceOptions to_workspace(const AnalysisOptions& options);

// Returns `options` with the values that the workspace contains. Ignores an invalid optimizer or
// number of GPUs, but does not check the names of the device and the estimator. The execution is
// eager if the workspace contains no valid one.
AnalysisOptions with_workspace(AnalysisOptions options, const WorkspaceOptions& saved);

// Options that the user gave for a file when opening it. They take precedence over those of a
// workspace or journal.
struct GivenOptions {
  std::string device;  // empty if none was given
  Assumptions assumptions;
};

// Replaces the workspace's options with those given. Invalid assumptions of the workspace remain.
void override_with(Workspace& workspace, const GivenOptions& given);

// `options` as a workspace stores them, with the device that estimates of the graph use if
// `options` names none.
WorkspaceOptions described(AnalysisOptions options, const Graph& graph);

}  // namespace jointer::views
