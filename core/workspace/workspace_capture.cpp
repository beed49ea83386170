#include "core/workspace/workspace_capture.h"

#include <filesystem>

#include "core/base/file_start.h"
#include "core/graph/canonical.h"

namespace jointer {
namespace {

namespace fs = std::filesystem;

bool exists(const std::string& path) {
  std::error_code status;
  return fs::exists(path, status);
}

// Relative paths are relative to the workspace's folder, not to the working directory. A workspace
// from standard input has no folder.
std::string resolve_path(const std::string& path, const std::string& workspace_path) {
  if (path.empty() || workspace_path == "-") return path;
  return (fs::path(workspace_path).parent_path() / path).lexically_normal().string();
}

// The relative path if it exists, else the absolute path. Error (input): neither exists.
Result<std::string> locate(const std::string& relative, const std::string& absolute,
                           const std::string& workspace_path) {
  const std::string near = resolve_path(relative, workspace_path);
  for (const std::string& path : {near, absolute})
    if (!path.empty() && exists(path)) return path;
  const std::string looked = near.empty() || near == absolute ? absolute
                             : absolute.empty()               ? near
                                                              : near + " and " + absolute;
  return input_error(
      "{}: the capture is missing (looked for {}); restore it, or open it from its new location "
      "and save the workspace again",
      workspace_path, looked);
}

std::string name_if_missing(const std::string& relative, const std::string& absolute,
                            const std::string& workspace_path) {
  if (relative.empty() && absolute.empty()) return {};
  if (locate(relative, absolute, workspace_path)) return {};
  return fs::path(absolute.empty() ? relative : absolute).filename().string();
}

}  // namespace

bool is_workspace_file(const std::string& path) {
  std::error_code status;
  if (!fs::is_regular_file(path, status)) return false;
  if (path.ends_with(kWorkspaceSuffix)) return true;
  const auto head = read_start(path, kWorkspaceHead);
  return head && is_workspace(*head);
}

Result<Assumptions> assumptions_of(const CaptureReference& capture, const Assumptions& given) {
  JOINTER_TRY(Assumptions assumptions, Assumptions::parse(capture.assume));
  assumptions.override_with(given);
  return assumptions;
}

Result<OpenRequest> locate_capture(const Workspace& workspace, const OpenRequest& asked) {
  const CaptureReference& capture = workspace.capture;
  const std::string& workspace_path = asked.path;
  if (asked.index && *asked.index != capture.graph.value_or(0))
    return fail(Error::Kind::usage,
                "{}: the workspace belongs to graph {} of its capture, so --graph {} cannot be "
                "used; leave it out, or open the capture itself",
                workspace_path, capture.graph.value_or(0), *asked.index);
  OpenRequest request;
  request.progress = asked.progress;
  JOINTER_TRY(request.path, locate(capture.relative, capture.path, workspace_path));
  if (!capture.relative_backward.empty() || !capture.backward.empty()) {
    JOINTER_TRY(request.backward,
                locate(capture.relative_backward, capture.backward, workspace_path));
  }
  request.index = capture.graph;
  auto assumptions = assumptions_of(capture, asked.assumptions);
  if (!assumptions)
    return fail(assumptions.error().kind, "{}: the capture's `assume`: {}", workspace_path,
                assumptions.error().message);
  request.assumptions = *std::move(assumptions);
  return request;
}

MissingFiles missing_files(const CaptureReference& capture, const std::string& workspace_path) {
  return {name_if_missing(capture.relative, capture.path, workspace_path),
          name_if_missing(capture.relative_backward, capture.backward, workspace_path)};
}

Result<void> check_capture(const Workspace& workspace, const Graph& graph) {
  const std::string& recorded = workspace.capture.hash;
  if (recorded.empty()) return {};
  const std::string here = graph_hash(graph);
  if (here == recorded) return {};
  return input_error(
      "the capture has changed since the workspace was saved (its hash is {}, but was {})",
      here.substr(0, 12), recorded.substr(0, 12));
}

}  // namespace jointer
