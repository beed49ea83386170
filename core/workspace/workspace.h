#pragma once

// A workspace: the user's work on one graph, saved as a `.jointer` file. It refers to the capture
// but does not contain it. Schema: resources/schema/workspace.schema.json.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/json_text.h"
#include "core/base/result.h"
#include "core/bench/result.h"
#include "core/workspace/history.h"
#include "core/workspace/kernel_moves.h"

namespace jointer {

inline constexpr int kWorkspaceVersion = 1;
inline constexpr std::string_view kWorkspaceSuffix = ".jointer";

// The location of the capture that was opened, and the identity of its graph.
struct CaptureReference {
  std::string path, backward;               // absolute; `backward` only for a pair in two files
  std::string relative, relative_backward;  // to the workspace's folder when it was saved
  std::optional<std::size_t> graph;         // index, if the capture has several graphs
  std::string assume;                       // in the format of Assumptions::parse: "u0=64,..."
  std::string hash;                         // graph_hash of the baseline
  std::string extra = {};
  friend bool operator==(const CaptureReference&, const CaptureReference&) = default;
};

// Options for computing estimates, as written on the command line. An empty option means the
// default.
struct WorkspaceOptions {
  std::string device, estimator, optimizer;
  std::string gpus_per_node = {}, execution = {};
  std::string extra = {};
  friend bool operator==(const WorkspaceOptions&, const WorkspaceOptions&) = default;
};

// The user's pipeline as text. The passes that it names run only on request. Permission to run
// third-party code is not stored here, because it is granted on each machine.
struct WorkspacePipeline {
  std::string text;  // one step per line, including disabled ones
  // The passes that are not built in, with their sources: "my_pass", "Python: /home/me/my_pass.py".
  std::vector<std::pair<std::string, std::string>> sources;
  std::string extra = {};
  friend bool operator==(const WorkspacePipeline&, const WorkspacePipeline&) = default;
};

// A moment that the user has marked in the training step. It moves with its node.
struct MarkedMoment {
  std::string node;               // its edit_name(), or empty for the start of the step
  bool is_after_release = false;  // after the node's releases, not only after its allocations
  std::string extra = {};
  friend bool operator==(const MarkedMoment&, const MarkedMoment&) = default;
};

struct Workspace {
  std::string title;
  CaptureReference capture;
  History history;
  std::vector<BenchmarkResult> benchmarks;  // oldest first
  WorkspaceOptions options;
  WorkspacePipeline pipeline;
  std::vector<MarkedMoment> marks;  // in the order they were made
  NamedKernelMoves kernel_moves;
  std::string layout;  // written and read by the desktop
  std::string extra;   // members unknown to this version: `"key":value,...`
};

// The number of bytes at the start of a file that is_workspace examines.
inline constexpr std::size_t kWorkspaceHead = 4096;
// True if `bytes` begins like a workspace.
bool is_workspace(std::string_view bytes);

// Does not open or run anything that the workspace refers to. Error (input): the text is not a
// valid workspace, or its version is newer; the message begins with `name`.
Result<Workspace> parse_workspace(std::string_view text, std::string_view name);
// The same for a file, or for standard input if `path` is `-`. Error (input): also if the file
// cannot be read.
Result<Workspace> read_workspace(const std::string& path);

// JSON with one history entry, state or benchmark per line. Includes the profiles of the newest
// benchmarks, as long as the lines that have them take at most 4 MiB in total.
std::string workspace_text(const Workspace& workspace);

// Replaces the file atomically, even if the power fails. Recomputes the relative paths of the
// capture from its absolute paths. Error (run): the file cannot be written.
Result<void> write_workspace(const std::string& path, Workspace workspace);

// The JSON of the individual parts, for journals. Error (input): the capture is not an object, has
// no path, or has an invalid `graph`. Other members that are missing or invalid keep their
// defaults.
OrderedJson capture_to_json(const CaptureReference& capture);
Result<CaptureReference> capture_from_json(const OrderedJson& json);
OrderedJson pipeline_to_json(const WorkspacePipeline& pipeline);
WorkspacePipeline pipeline_from_json(const OrderedJson& json);
OrderedJson marks_to_json(const std::vector<MarkedMoment>& marks);
std::vector<MarkedMoment> marks_from_json(const OrderedJson& json);
OrderedJson options_to_json(const WorkspaceOptions& options);
WorkspaceOptions options_from_json(const OrderedJson& json);

}  // namespace jointer
