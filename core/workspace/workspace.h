#pragma once

// A workspace (`.jointer`): what a person did with one graph, as a file. The capture itself stays
// where it is and is referred to. The form is resources/schema/workspace.schema.json.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/json_text.h"
#include "core/base/result.h"
#include "core/bench/result.h"
#include "core/workspace/history.h"

namespace jointer {

inline constexpr int kWorkspaceVersion = 1;
inline constexpr std::string_view kWorkspaceSuffix = ".jointer";

// Where the graph is that was opened, and which one it was.
struct CaptureReference {
  std::string path, backward;               // absolute; backward: empty, or of a pair
  std::string relative, relative_backward;  // to the workspace's folder, as of when it was saved
  std::optional<std::size_t> graph;         // which of several
  std::string assume;                       // "u0=64,..." as Assumptions::parse reads it
  std::string hash;                         // of the graph as it was opened: graph_hash
  std::string extra = {};
  friend bool operator==(const CaptureReference&, const CaptureReference&) = default;
};

// What figures are computed under, as the options of the command line say it; empty: the default.
struct WorkspaceOptions {
  std::string device, estimator, optimizer;
  std::string extra = {};
  friend bool operator==(const WorkspaceOptions&, const WorkspaceOptions&) = default;
};

// The pipeline that a person edits, as text: it names passes, and nothing of them runs before
// somebody asks for it. Nothing here says that foreign code is allowed: that is for each machine.
struct WorkspacePipeline {
  std::string text;  // a step a line, disabled ones too
  // Where passes come from that are not built in: "my_pass", "Python: /home/me/my_pass.py".
  std::vector<std::pair<std::string, std::string>> sources;
  std::string extra = {};
  friend bool operator==(const WorkspacePipeline&, const WorkspacePipeline&) = default;
};

struct Workspace {
  std::string title;
  CaptureReference capture;
  History history;
  std::vector<BenchmarkResult> benchmarks;  // oldest first
  WorkspaceOptions options;
  WorkspacePipeline pipeline;
  std::string layout;  // the desktop's own
  std::string extra;   // members that this version does not know: `"key":value,...`
};

// Whether a file's content says that it is a workspace: its first bytes are looked at.
inline constexpr std::size_t kWorkspaceHead = 4096;
bool is_workspace(std::string_view bytes);

// Error (input): `name`, and what is wrong with it; a newer version. Nothing else is opened, and
// nothing that it names is run.
Result<Workspace> parse_workspace(std::string_view text, std::string_view name);
Result<Workspace> read_workspace(const std::string& path);

// JSON, an edit a line. Profiles of benchmarks are kept of the newest, as long as they are not
// large.
std::string workspace_text(const Workspace& workspace);

// In place of what is there, whole or not at all, also where power fails; relative paths are made
// for where it is. Error (run): it cannot be written.
Result<void> write_workspace(const std::string& path, Workspace workspace);

// Parts of it, for journals.
OrderedJson capture_to_json(const CaptureReference& capture);
Result<CaptureReference> capture_from_json(const OrderedJson& json);
OrderedJson pipeline_to_json(const WorkspacePipeline& pipeline);
WorkspacePipeline pipeline_from_json(const OrderedJson& json);
OrderedJson options_to_json(const WorkspaceOptions& options);
WorkspaceOptions options_from_json(const OrderedJson& json);

}  // namespace jointer
