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

// The current location of a workspace's capture: the path relative to the workspace or, if the
// capture is not there, the absolute path, both as they were when the workspace was saved. Error
// (input): the capture is in neither place; the message names both.
Result<OpenRequest> locate_capture(const Workspace& workspace, const std::string& workspace_path);

// Error (input), in one sentence: the graph is not the one that the workspace was made for. The
// hash does not show what differs.
Result<void> check_capture(const Workspace& workspace, const Graph& graph);

}  // namespace jointer
