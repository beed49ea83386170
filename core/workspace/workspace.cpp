#include "core/workspace/workspace.h"

#include <algorithm>
#include <filesystem>

#include "core/base/bytes.h"
#include "core/base/json_fields.h"
#include "core/bench/history.h"
#include "core/workspace/sync_folder.h"

namespace jointer {

constexpr auto json_fields(const CaptureReference* /*of*/) {
  return std::tuple(json_field("path", &CaptureReference::relative).if_set().lenient(),
                    json_field("backward", &CaptureReference::relative_backward).if_set().lenient(),
                    json_field("absolute", &CaptureReference::path).if_set().lenient(),
                    json_field("absolute_backward", &CaptureReference::backward).if_set().lenient(),
                    json_field("graph", &CaptureReference::graph).if_set(),
                    json_field("assume", &CaptureReference::assume).if_set().lenient(),
                    json_field("hash", &CaptureReference::hash).lenient(),
                    json_rest(&CaptureReference::extra));
}

constexpr auto json_fields(const WorkspaceOptions* /*of*/) {
  return std::tuple(
      json_field("device", &WorkspaceOptions::device).if_set().lenient(),
      json_field("estimator", &WorkspaceOptions::estimator).if_set().lenient(),
      json_field("optimizer", &WorkspaceOptions::optimizer).if_set().lenient(),
      json_field("gpus_per_node", &WorkspaceOptions::gpus_per_node).if_set().lenient(),
      json_field("execution", &WorkspaceOptions::execution).if_set().lenient(),
      json_rest(&WorkspaceOptions::extra));
}

constexpr auto json_fields(const WorkspacePipeline* /*of*/) {
  return std::tuple(json_field("text", &WorkspacePipeline::text).lenient(),
                    json_field("sources", &WorkspacePipeline::sources).if_set().lenient(),
                    json_rest(&WorkspacePipeline::extra));
}

constexpr auto json_fields(const MarkedMoment* /*of*/) {
  return std::tuple(json_field("node", &MarkedMoment::node).lenient(),
                    json_field("released", &MarkedMoment::is_after_release).if_set().lenient(),
                    json_rest(&MarkedMoment::extra));
}

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kWorkspaceFormat = "jointer-workspace";
// Keeps the reading and writing of workspaces fast. Profiles beyond this total size are stored only
// in the desktop's benchmark history.
constexpr std::size_t kMaxProfileBytes = std::size_t{4} << 20;

// Reads a struct without required members. JSON that is not an object counts as an empty one.
template <HasJsonFields T>
T lenient(const OrderedJson& json) {
  JsonMembers members(json);
  T object;
  read_fields(members, object);
  return object;
}

Result<std::vector<BenchmarkResult>> benchmarks_from_json(const OrderedJson& json) {
  if (!json.is_array()) return input_error("`benchmarks`: expected a list");
  std::vector<BenchmarkResult> results;
  for (std::size_t i = 0; i < json.size(); ++i) {
    auto result = read_result(json[i]);
    if (!result) return input_error("benchmark {}: {}", i, result.error().message);
    results.push_back(*std::move(result));
  }
  return results;
}

Result<Workspace> workspace_from_json(const OrderedJson& json) {
  JsonMembers members(json);
  if (const OrderedJson* format = members.find("format");
      format == nullptr || *format != kWorkspaceFormat)
    return input_error("not a workspace: expected `format` to be \"{}\"", kWorkspaceFormat);
  const OrderedJson* version = members.find("version");
  if (version == nullptr || !version->is_number_integer())
    return input_error("`version` is missing or not an integer");
  if (version->get<std::int64_t>() > kWorkspaceVersion)
    return input_error(
        "version {} of the workspace format is not supported: this program reads version {}; use a "
        "newer Jointer",
        version->get<std::int64_t>(), kWorkspaceVersion);
  Workspace workspace;
  const OrderedJson* capture = members.find("capture");
  if (capture == nullptr) return input_error("`capture` is missing");
  JOINTER_TRY(workspace.capture, capture_from_json(*capture));
  JOINTER_TRY(workspace.history, history_from_json(json));
  for (const char* key : {"edits", "place", "states"}) members.find(key);
  if (const OrderedJson* options = members.find("options"); options && options->is_object())
    workspace.options = options_from_json(*options);
  if (const OrderedJson* pipeline = members.find("pipeline"))
    workspace.pipeline = pipeline_from_json(*pipeline);
  if (const OrderedJson* marks = members.find("marks")) workspace.marks = marks_from_json(*marks);
  if (const OrderedJson* moves = members.find("kernel_moves")) {
    JOINTER_TRY(workspace.kernel_moves, kernel_moves_from_json(*moves));
  }
  if (const OrderedJson* benchmarks = members.find("benchmarks")) {
    JOINTER_TRY(workspace.benchmarks, benchmarks_from_json(*benchmarks));
  }
  read_fields(
      members, workspace,
      std::tuple(json_field("title", &Workspace::title).lenient(),
                 json_field("layout", &Workspace::layout).lenient(), json_rest(&Workspace::extra)));
  return workspace;
}

// Writes one element per line, so that files can be compared line by line.
void write_lines(std::string& text, const OrderedJson& list) {
  text += '[';
  for (std::size_t i = 0; i < list.size(); ++i)
    text += (i == 0 ? "\n    " : ",\n    ") + write_json(list[i]);
  text += list.empty() ? "]" : "\n  ]";
}

std::string relative_to(const std::string& file, const std::string& workspace) {
  if (file.empty()) return {};
  std::error_code status;
  const fs::path folder = fs::absolute(workspace, status).parent_path();
  const fs::path path = fs::path(file).lexically_relative(folder.lexically_normal());
  return path.empty() ? file : path.string();
}

}  // namespace

WorkspaceOptions options_from_json(const OrderedJson& json) {
  return lenient<WorkspaceOptions>(json);
}

WorkspacePipeline pipeline_from_json(const OrderedJson& json) {
  return lenient<WorkspacePipeline>(json);
}

OrderedJson pipeline_to_json(const WorkspacePipeline& pipeline) {
  return json_of(pipeline);
}

std::vector<MarkedMoment> marks_from_json(const OrderedJson& json) {
  std::vector<MarkedMoment> marks;
  if (json.is_array())
    for (const OrderedJson& mark : json) marks.push_back(lenient<MarkedMoment>(mark));
  return marks;
}

OrderedJson marks_to_json(const std::vector<MarkedMoment>& marks) {
  return json_of(marks);
}

OrderedJson options_to_json(const WorkspaceOptions& options) {
  return json_of(options);
}

bool is_workspace(std::string_view bytes) {
  // Jointer writes `format` first, but handwritten files may start with another member.
  const std::string_view head = bytes.substr(0, kWorkspaceHead);
  return head.find_first_not_of(" \t\r\n") != std::string_view::npos &&
         head[head.find_first_not_of(" \t\r\n")] == '{' &&
         head.find("\"jointer-workspace\"") != std::string_view::npos;
}

OrderedJson capture_to_json(const CaptureReference& capture) {
  return json_of(capture);
}

Result<CaptureReference> capture_from_json(const OrderedJson& json) {
  if (!json.is_object()) return input_error("`capture`: expected an object");
  JsonMembers members(json, "`capture`");
  CaptureReference capture;
  read_fields(members, capture);
  if (!members.problem().empty()) return input_error("{}", members.problem());
  if (capture.path.empty() && capture.relative.empty()) return input_error("`capture` has no path");
  return capture;
}

Result<Workspace> parse_workspace(std::string_view text, std::string_view name) {
  JOINTER_TRY(const OrderedJson json, parse_json(text, name));
  auto workspace = workspace_from_json(json);
  if (!workspace) return input_error("{}: {}", name, workspace.error().message);
  return workspace;
}

Result<Workspace> read_workspace(const std::string& path) {
  JOINTER_TRY(const PaddedBytes bytes, read_bytes(path));
  return parse_workspace(bytes.view(), path == "-" ? "standard input" : path);
}

std::string workspace_text(const Workspace& workspace) {
  OrderedJson history = OrderedJson::object();
  history_to_json(history, workspace.history);
  std::string text = fmt::format("{{\n  \"format\": \"{}\",\n  \"version\": {}", kWorkspaceFormat,
                                 kWorkspaceVersion);
  const auto member = [&](const char* key) { text += fmt::format(",\n  \"{}\": ", key); };
  const auto plain = [&](const char* key, const OrderedJson& value) {
    member(key);
    text += write_json(value);
  };
  plain("title", workspace.title);
  plain("capture", capture_to_json(workspace.capture));
  plain("place", history["place"]);
  member("edits");
  write_lines(text, history["edits"]);
  member("states");
  write_lines(text, history["states"]);
  plain("options", options_to_json(workspace.options));
  if (workspace.pipeline != WorkspacePipeline())
    plain("pipeline", pipeline_to_json(workspace.pipeline));
  if (!workspace.marks.empty()) plain("marks", marks_to_json(workspace.marks));
  if (workspace.kernel_moves != NamedKernelMoves())
    plain("kernel_moves", kernel_moves_to_json(workspace.kernel_moves));
  plain("layout", workspace.layout);
  member("benchmarks");
  text += '[';
  bool first = true;
  for (const std::string& line : result_lines(workspace.benchmarks, kMaxProfileBytes))
    text += (std::exchange(first, false) ? "\n    " : ",\n    ") + line;
  text += first ? "]" : "\n  ]";
  if (!workspace.extra.empty()) text += ",\n  " + workspace.extra;
  return text + "\n}\n";
}

Result<void> write_workspace(const std::string& path, Workspace workspace) {
  workspace.capture.relative = relative_to(workspace.capture.path, path);
  workspace.capture.relative_backward = relative_to(workspace.capture.backward, path);
  JOINTER_CHECK(write_bytes(path, workspace_text(workspace)));
  std::error_code status;
  return sync_folder(fs::absolute(path, status).parent_path().string());
}

}  // namespace jointer
