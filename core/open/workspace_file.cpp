// The reader of workspaces: opens the capture and applies the edits.

#include "core/capture/graph_reader.h"
#include "core/edit/edit.h"
#include "core/open/open.h"
#include "core/workspace/workspace_capture.h"

namespace jointer {
namespace {

Result<Graph> open_workspace(const CaptureFile& file, const OpenRequest& request) {
  if (request.is_of_workspace)
    return input_error("{}: a workspace cannot be the capture of another workspace", request.path);
  JOINTER_TRY(const Workspace workspace, parse_workspace(file.bytes.view(), file.name));
  JOINTER_TRY(OpenRequest capture, locate_capture(workspace, request));
  capture.is_of_workspace = true;
  JOINTER_TRY(Graph graph, open_graph(capture));
  if (auto same = check_capture(workspace, graph); !same)
    return input_error(
        "{}: {}; open the capture itself, or open the workspace in the desktop and save it again",
        request.path, same.error().message);
  Editor editor(graph);
  for (const Edit& edit : workspace.history.edits())
    if (auto done = editor.apply(edit); !done)
      return input_error("{}: the edit `{}`: {}", request.path, edit.title, done.error().message);
  return graph;
}

}  // namespace

extern const GraphReader kWorkspaceReader{.name = "workspace",
                                          .title = "workspace",
                                          .pattern = "*.jointer",
                                          .suffix = kWorkspaceSuffix,
                                          .recognizes = is_workspace,
                                          .open = open_workspace};

}  // namespace jointer
