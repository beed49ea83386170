#pragma once

// Locates a workspace's capture and checks that it is unchanged. `open_graph` uses these functions
// to open workspaces.

#include <string>

#include "core/base/result.h"
#include "core/capture/graph_reader.h"
#include "core/workspace/workspace.h"

namespace jointer {

// True if the file at `path` is a workspace, judging by its name or its first bytes.
bool is_workspace_file(const std::string& path);

// The request to open a workspace's capture: at the saved path relative to the workspace or, if
// there is no file there, at the saved absolute path. Error (input): there is no file at either
// path; the message names them. Other errors: those of Assumptions::parse.
Result<OpenRequest> locate_capture(const Workspace& workspace, const std::string& workspace_path);

// Checks by its hash that the graph is the one that the workspace was saved for. Accepts any graph
// if the workspace has no hash. Error (input): it is a different graph; the message does not name
// the workspace.
Result<void> check_capture(const Workspace& workspace, const Graph& graph);

}  // namespace jointer
