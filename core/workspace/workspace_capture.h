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

// The assumptions of a workspace with those that the user gave when opening it, which take
// precedence. Error (usage): `assume` is not valid.
Result<Assumptions> assumptions_of(const CaptureReference& capture, const Assumptions& given);

// Returns the request that opens a workspace's capture. `asked` is the request to open the
// workspace. The capture is at the saved path relative to the workspace or, if there is no file
// there, at the saved absolute path; its assumptions are those of assumptions_of. Error (input):
// there is no file at either path; the message names them. Error (usage): the request is for
// another graph than the workspace's. Other errors: those of assumptions_of.
Result<OpenRequest> locate_capture(const Workspace& workspace, const OpenRequest& asked);

// The file names of a workspace's capture that `locate_capture` does not find; empty for a file
// that exists, and for the backward if the capture is one file.
struct MissingFiles {
  std::string graph, backward;
};
MissingFiles missing_files(const CaptureReference& capture, const std::string& workspace_path);

// Checks by its hash that the graph is the one that the workspace was saved for. Accepts any graph
// if the workspace has no hash. Error (input): it is a different graph; the message does not name
// the workspace.
Result<void> check_capture(const Workspace& workspace, const Graph& graph);

}  // namespace jointer
