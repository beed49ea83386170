// Reads the artifacts of compilations.
//
// In a log, a compilation of one graph is a run of entries with the same compile id: the post-grad
// graph, the output code, then what torch logs after it has generated the code. A forward and its
// backward have the same compile id, so an entry belongs to the last output code before it.

#include "core/capture/compile_artifacts.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

#include "core/base/bytes.h"
#include "core/base/file_start.h"
#include "core/base/json_text.h"
#include "core/base/take_part.h"
#include "core/base/zip_archive.h"
#include "core/capture/aoti_package.h"
#include "core/capture/output_code.h"
#include "core/capture/torch_trace.h"
#include "core/capture/torch_trace_entries.h"

namespace jointer {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kArtifactStart = 1 << 14;

// The payload without the leading tab of each line.
std::string unindented(std::string_view payload) {
  std::string text;
  text.reserve(payload.size());
  while (!payload.empty()) {
    std::string_view line = take_part(payload, '\n');
    if (line.starts_with('\t')) line.remove_prefix(1);
    text += line;
    text += '\n';
  }
  return text;
}

std::vector<std::string> texts_of(const OrderedJson& list) {
  std::vector<std::string> texts;
  if (!list.is_array()) return texts;
  for (const OrderedJson& each : list)
    if (each.is_string()) texts.push_back(each.get<std::string>());
  return texts;
}

const OrderedJson* object_at(const OrderedJson& json, const char* key) {
  if (!json.is_object()) return nullptr;
  const auto it = json.find(key);
  return it != json.end() && it->is_object() ? &*it : nullptr;
}

// The value for a kernel: mappings name calls ("extern_kernels.mm:5") or, in older versions,
// kernels.
const OrderedJson* value_for(const OrderedJson& mapping, const CompiledKernel& kernel) {
  for (const std::string* key : {&kernel.handle, &kernel.name})
    if (const auto it = mapping.find(*key); !key->empty() && it != mapping.end()) return &*it;
  return nullptr;
}

void add_mappings(CompiledProgram& program, const OrderedJson& json) {
  const OrderedJson* const to_post = object_at(json, "cppCodeToPost");
  if (to_post == nullptr) return;
  const OrderedJson* const to_original = object_at(json, "postToPre");
  for (CompiledKernel& kernel : program.kernels) {
    const OrderedJson* const nodes = value_for(*to_post, kernel);
    if (nodes == nullptr) continue;
    kernel.nodes = texts_of(*nodes);
    if (!kernel.nodes.empty()) kernel.nodes_from = NodesFrom::provenance;
    if (to_original == nullptr) continue;
    for (const std::string& node : kernel.nodes)
      if (const auto it = to_original->find(node); it != to_original->end())
        for (std::string& original : texts_of(*it))
          if (std::ranges::find(kernel.original_nodes, original) == kernel.original_nodes.end())
            kernel.original_nodes.push_back(std::move(original));
  }
}

void add_stacks(CompiledProgram& program, const OrderedJson& json) {
  if (!json.is_object()) return;
  for (CompiledKernel& kernel : program.kernels)
    if (const OrderedJson* const stacks = value_for(json, kernel))
      for (const std::string& stack : texts_of(*stacks)) kernel.stack += stack;
}

// Reads the entries of one log.
class TraceArtifacts {
 public:
  explicit TraceArtifacts(std::string_view file) : file_(file) {}

  void read(const TraceEntry& entry) {
    // Most entries are about other things; a text search avoids parsing them.
    if (entry.json.find("\"inductor_") == std::string_view::npos &&
        entry.json.find("\"torch_version\"") == std::string_view::npos)
      return;
    const auto json = nlohmann::json::parse(entry.json, nullptr, /*allow_exceptions=*/false);
    if (!json.is_object()) return;
    const std::string name = trace_entry_name(json), compile = trace_entry_compile(json);
    if (name == "torch_version")
      read_version(entry);
    else if (name == "inductor_post_grad_graph")
      post_grad_.insert_or_assign(compile, unindented(entry.payload));
    else if (name == "inductor_output_code")
      read_code(entry, compile, trace_entry_number(json, "rank"));
    else
      read_facts(entry, name, compile);
  }

  CompileArtifacts take() {
    for (CompiledProgram& program : result_.programs) {
      program.torch_version = version_;
      assign_nodes(program);
    }
    return std::move(result_);
  }

 private:
  void read_version(const TraceEntry& entry) {
    const auto json = parse_tree(unindented(entry.payload));
    if (!json || !json->is_object()) return;
    const auto version = json->find("pytorch_version");
    if (version != json->end() && version->is_string()) version_ = version->get<std::string>();
  }

  void read_code(const TraceEntry& entry, const std::string& compile,
                 std::optional<std::int64_t> rank) {
    const std::string place = fmt::format("{}: line {}", file_, entry.payload_number);
    auto program = read_output_code(place, unindented(entry.payload));
    // The graph belongs to this code even if the code cannot be read.
    auto graph = post_grad_.extract(compile);
    if (!program) {
      result_.problems.push_back(program.error().message);
      last_.erase(compile);
      return;
    }
    program->compile = compile;
    program->rank = rank;
    program->file = file_;
    program->name = compile;
    if (program->half)
      program->name += fmt::format("{}{}", compile.empty() ? "" : ", ", to_string(*program->half));
    if (!graph.empty()) program->post_grad_graph = std::move(graph.mapped());
    last_.insert_or_assign(compile, result_.programs.size());
    result_.programs.push_back(*std::move(program));
  }

  void read_facts(const TraceEntry& entry, std::string_view name, const std::string& compile) {
    const auto last = last_.find(compile);
    if (last == last_.end()) return;
    CompiledProgram& program = result_.programs[last->second];
    const bool is_schedule = name == "inductor_collective_schedule";
    const bool is_mapping = name == "inductor_provenance_tracking_node_mappings";
    if (!is_schedule && !is_mapping && name != "inductor_provenance_tracking_kernel_stack_traces")
      return;
    const auto json = parse_tree(unindented(entry.payload));
    if (!json) {
      result_.problems.push_back(fmt::format("{}: line {}: {} is not JSON; it is ignored", file_,
                                             entry.payload_number, name));
      return;
    }
    if (is_schedule)
      program.schedule = texts_of(*json);
    else if (is_mapping)
      add_mappings(program, *json);
    else
      add_stacks(program, *json);
  }

  std::string file_, version_;
  CompileArtifacts result_;
  std::map<std::string, std::string> post_grad_;  // by compilation: the graph of the next code
  std::map<std::string, std::size_t> last_;       // by compilation: its last program
};

// Adds the programs of a package. Other archives in a folder, such as checkpoints, are ignored.
Result<void> add_package(const std::string& path, bool is_named, CompileArtifacts& to) {
  const auto archive = ZipArchive::open(path);
  if (!archive && is_named) return tl::unexpected(archive.error());
  if (!archive && path.ends_with(".pt2")) {
    to.problems.push_back(archive.error().message);
    return {};
  }
  if (!archive || (!is_named && !is_aoti_package(*archive))) {
    ++to.ignored;
    return {};
  }
  auto programs = read_aoti_package(*archive, path);
  if (!programs) {
    to.problems.push_back(programs.error().message);
    return {};
  }
  std::move(programs->begin(), programs->end(), std::back_inserter(to.programs));
  return {};
}

// Adds the artifacts of one file; `is_named` if the user named it.
Result<void> add_file(const std::string& path, bool is_named, CompileArtifacts& to) {
  const auto start = read_start(path, kArtifactStart);
  if (!start) {
    if (is_named) return tl::unexpected(start.error());
    ++to.ignored;
    return {};
  }
  if (start->starts_with(kZipMagic)) return add_package(path, is_named, to);
  const bool is_log = is_torch_trace(*start);
  if (!is_log && start->find("AsyncCompile") == std::string::npos) {
    if (is_named)
      return input_error(
          "{}: neither a TORCH_TRACE log, nor a wrapper that Inductor wrote (output code), nor an "
          "AOTInductor package (.pt2); give the TORCH_TRACE folder of a run with torch.compile",
          path);
    ++to.ignored;
    return {};
  }
  JOINTER_TRY(const PaddedBytes bytes, read_bytes(path));
  if (is_log) {
    CompileArtifacts found = read_trace_artifacts(path, bytes.view());
    if (found.programs.empty() && found.problems.empty()) ++to.ignored;
    std::move(found.programs.begin(), found.programs.end(), std::back_inserter(to.programs));
    std::move(found.problems.begin(), found.problems.end(), std::back_inserter(to.problems));
    return {};
  }
  if (!is_output_code(bytes.view())) {
    ++to.ignored;
    return {};
  }
  auto program = read_output_code(path, std::string(bytes.view()));
  if (!program) {
    to.problems.push_back(program.error().message);
    return {};
  }
  program->file = path;
  program->name = fs::path(path).filename().string();
  if (program->half) program->name += fmt::format(", {}", to_string(*program->half));
  assign_nodes(*program);
  to.programs.push_back(*std::move(program));
  return {};
}

}  // namespace

CompileArtifacts read_trace_artifacts(std::string_view file, std::string_view bytes) {
  TraceArtifacts reader(file);
  for_each_trace_entry(bytes, [&](const TraceEntry& entry) { reader.read(entry); });
  return reader.take();
}

Result<CompileArtifacts> read_compile_artifacts(const std::string& path) {
  CompileArtifacts artifacts;
  std::error_code status;
  if (!fs::is_directory(path, status)) {
    JOINTER_CHECK(add_file(path, true, artifacts));
  } else {
    std::vector<std::string> files;
    for (fs::recursive_directory_iterator it(path, status), last; !status && it != last;
         it.increment(status)) {
      std::error_code unreadable;  // such a file is not read
      if (it->is_regular_file(unreadable)) files.push_back(it->path().string());
    }
    if (status) return input_error("{}: {}", path, status.message());
    std::sort(files.begin(), files.end());
    for (const std::string& file : files) JOINTER_CHECK(add_file(file, false, artifacts));
  }
  if (!artifacts.programs.empty()) return artifacts;
  if (!artifacts.problems.empty()) return input_error("{}", artifacts.problems.front());
  return input_error(
      "{}: no output code of Inductor, and no AOTInductor package; was torch.compile run with "
      "TORCH_TRACE=FOLDER?",
      path);
}

}  // namespace jointer
