#pragma once

// Opens the graph of a workspace: finds the capture, checks it, and applies the edits again.

#include <string>

#include "core/base/result.h"
#include "core/open/open.h"
#include "core/workspace/workspace.h"

namespace jointer {

// True if the file at `path` is a workspace, according to its name or its first bytes.
bool is_workspace_file(const std::string& path);

// The current location of a workspace's capture: the same path relative to the workspace as when it
// was saved or, if it is not there, the absolute path from that time. Error (input): in neither
// place; the message names both.
Result<OpenRequest> locate_capture(const Workspace& workspace, const std::string& workspace_path);

// Error (input), in one sentence: the graph is not the one that the workspace was made for. The
// hash does not tell what differs.
Result<void> check_capture(const Workspace& workspace, const Graph& graph);

// Opens the graph of a request whose path is a workspace, and applies the workspace's edits. The
// request's assumptions take precedence over those of the workspace. Error (input): the workspace
// or its capture is damaged, missing, or not the original one, or an edit does not fit. Error
// (usage): the request has a backward half in addition to the workspace.
Result<Graph> open_workspace_graph(const OpenRequest& request);

}  // namespace jointer
