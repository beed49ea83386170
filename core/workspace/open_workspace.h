#pragma once

// From a workspace to its graph: the capture is looked for, compared, and edited again.

#include <string>

#include "core/base/result.h"
#include "core/capture/open.h"
#include "core/workspace/workspace.h"

namespace jointer {

// Whether the file at `path` is a workspace, by its name or by how it begins.
bool is_workspace_file(const std::string& path);

// Where the capture of a workspace is now: beside the workspace as it was when that was saved, else
// where it was on the machine that saved it. Error (input): in neither place, with both named.
Result<OpenRequest> locate_capture(const Workspace& workspace, const std::string& workspace_path);

// Error (input), in one sentence: the graph is not the one that the workspace was made on. What
// differs is no more than its hash tells.
Result<void> check_capture(const Workspace& workspace, const Graph& graph);

// The graph of an open request whose path is a workspace, with the edits that are done in it. What
// the request says besides (assumptions, progress) counts over what the workspace says. Error
// (input): the workspace or its capture is damaged, missing, or not the one it was made on; an edit
// does not fit. Error (usage): a backward half beside a workspace.
Result<Graph> open_workspace_graph(const OpenRequest& request);

}  // namespace jointer
