#include "core/workspace/workspace.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "core/base/bytes.h"
#include "core/bench/history.h"
#include "core/process/file_descriptor.h"

namespace jointer {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFormat = "jointer-workspace";
// Opening and writing a workspace must be fast. Profiles beyond this size stay only in the
// desktop's history of benchmarks.
constexpr std::size_t kMaxProfileBytes = std::size_t{4} << 20;

std::string text_member(const OrderedJson& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

void set_text(OrderedJson& json, const char* key, const std::string& text) {
  if (!text.empty()) json[key] = text;
}

// The members that this version does not know.
template <class Known>
std::string unknown(const OrderedJson& json, const Known& known) {
  std::string members;
  for (const auto& [key, value] : json.items())
    if (std::ranges::find(known, std::string_view(key)) == std::ranges::end(known))
      keep_member(members, key, value);
  return members;
}

constexpr std::string_view kCaptureMembers[] = {
    "path", "backward", "absolute", "absolute_backward", "graph", "assume", "hash"};
constexpr std::string_view kOptionMembers[] = {"device", "estimator", "optimizer"};
constexpr std::string_view kMembers[] = {"format",     "version", "title",   "capture",
                                         "edits",      "place",   "states",  "options",
                                         "benchmarks", "layout",  "pipeline"};
constexpr std::string_view kPipelineMembers[] = {"text", "sources"};

Result<std::vector<BenchmarkResult>> benchmarks_from_json(const OrderedJson& json) {
  if (!json.is_array()) return input_error("`benchmarks`: expected a list");
  std::vector<BenchmarkResult> results;
  for (std::size_t i = 0; i < json.size(); ++i) {
    auto result = parse_result(write_json(json[i]));
    if (!result) return input_error("benchmark {}: {}", i, result.error().message);
    results.push_back(*std::move(result));
  }
  return results;
}

Result<Workspace> workspace_from_json(const OrderedJson& json) {
  if (!json.is_object() || text_member(json, "format") != kFormat)
    return input_error("it is not a workspace (no \"format\": \"{}\")", kFormat);
  const auto version = json.find("version");
  if (version == json.end() || !version->is_number_integer())
    return input_error("it has no `version`");
  if (version->get<std::int64_t>() > kWorkspaceVersion)
    return input_error(
        "version {} of the workspace format is not supported: this program reads version {}; use a "
        "newer Jointer",
        version->get<std::int64_t>(), kWorkspaceVersion);
  Workspace workspace;
  workspace.title = text_member(json, "title");
  if (!json.contains("capture")) return input_error("it has no `capture`");
  JOINTER_TRY(workspace.capture, capture_from_json(json["capture"]));
  JOINTER_TRY(workspace.history, history_from_json(json));
  if (const auto options = json.find("options"); options != json.end() && options->is_object())
    workspace.options = options_from_json(*options);
  if (const auto pipeline = json.find("pipeline"); pipeline != json.end())
    workspace.pipeline = pipeline_from_json(*pipeline);
  if (const auto benchmarks = json.find("benchmarks"); benchmarks != json.end()) {
    JOINTER_TRY(workspace.benchmarks, benchmarks_from_json(*benchmarks));
  }
  workspace.layout = text_member(json, "layout");
  workspace.extra = unknown(json, kMembers);
  return workspace;
}

// Writes one line per element, so that files can be compared line by line.
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

// A renamed file survives a power failure only once its folder is on disk too.
Result<void> sync_folder(const std::string& path) {
  std::error_code status;
  const std::string folder = fs::absolute(path, status).parent_path().string();
  const FileDescriptor descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // Some file systems do not support this; the file itself is on disk.
  if (descriptor && ::fsync(descriptor.get()) != 0 && errno != EINVAL && errno != ENOTSUP)
    return fail(Error::Kind::run, "{}: {}", folder, std::strerror(errno));
  return {};
}

}  // namespace

WorkspaceOptions options_from_json(const OrderedJson& json) {
  return {.device = text_member(json, "device"),
          .estimator = text_member(json, "estimator"),
          .optimizer = text_member(json, "optimizer"),
          .extra = unknown(json, kOptionMembers)};
}

WorkspacePipeline pipeline_from_json(const OrderedJson& json) {
  if (!json.is_object()) return {};
  WorkspacePipeline pipeline{
      .text = text_member(json, "text"), .sources = {}, .extra = unknown(json, kPipelineMembers)};
  if (const auto sources = json.find("sources"); sources != json.end() && sources->is_object())
    for (const auto& [pass, source] : sources->items())
      if (source.is_string()) pipeline.sources.emplace_back(pass, source.get<std::string>());
  return pipeline;
}

OrderedJson pipeline_to_json(const WorkspacePipeline& pipeline) {
  OrderedJson json{{"text", pipeline.text}};
  for (const auto& [pass, source] : pipeline.sources) json["sources"][pass] = source;
  add_members(json, pipeline.extra);
  return json;
}

OrderedJson options_to_json(const WorkspaceOptions& options) {
  OrderedJson json = OrderedJson::object();
  set_text(json, "device", options.device);
  set_text(json, "estimator", options.estimator);
  set_text(json, "optimizer", options.optimizer);
  add_members(json, options.extra);
  return json;
}

bool is_workspace(std::string_view bytes) {
  // Jointer writes `format` first; handwritten files may start with another member.
  const std::string_view head = bytes.substr(0, kWorkspaceHead);
  return head.find_first_not_of(" \t\r\n") != std::string_view::npos &&
         head[head.find_first_not_of(" \t\r\n")] == '{' &&
         head.find("\"jointer-workspace\"") != std::string_view::npos;
}

OrderedJson capture_to_json(const CaptureReference& capture) {
  OrderedJson json = OrderedJson::object();
  set_text(json, "path", capture.relative);
  set_text(json, "backward", capture.relative_backward);
  set_text(json, "absolute", capture.path);
  set_text(json, "absolute_backward", capture.backward);
  if (capture.graph) json["graph"] = *capture.graph;
  set_text(json, "assume", capture.assume);
  json["hash"] = capture.hash;
  add_members(json, capture.extra);
  return json;
}

Result<CaptureReference> capture_from_json(const OrderedJson& json) {
  if (!json.is_object()) return input_error("`capture`: expected an object");
  CaptureReference capture{.path = text_member(json, "absolute"),
                           .backward = text_member(json, "absolute_backward"),
                           .relative = text_member(json, "path"),
                           .relative_backward = text_member(json, "backward"),
                           .graph = {},
                           .assume = text_member(json, "assume"),
                           .hash = text_member(json, "hash"),
                           .extra = unknown(json, kCaptureMembers)};
  if (const auto graph = json.find("graph"); graph != json.end()) {
    if (!graph->is_number_unsigned())
      return input_error("`graph` of the capture: expected a whole number");
    capture.graph = graph->get<std::size_t>();
  }
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
  std::string text =
      fmt::format("{{\n  \"format\": \"{}\",\n  \"version\": {}", kFormat, kWorkspaceVersion);
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
  return sync_folder(path);
}

}  // namespace jointer
