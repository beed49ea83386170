// Reads packages of AOTInductor. A model's files are in one folder of the archive:
//   NAME.wrapper.cpp         allocations and calls of kernels
//   NAME.kernel.cpp          kernels in C++, if there are any for the CPU
//   NAME.wrapper.json        the operators that the wrapper calls through the proxy executor
//   kernel_information.json  the nodes and stacks of each kernel, if INDUCTOR_PROVENANCE=1 was set
// Source: torch._inductor.codecache.AotCodeCompiler, torch.export.pt2_archive.
//
// The nodes of a generated kernel are those in kernel_information.json, except those that calls of
// operators run. A call of an operator keeps those of its nodes that are named after the operator.
// If there are none, the comment above the call may name one (find_nodes_of_operators).

#include "core/capture/aoti_package.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "core/base/characters.h"
#include "core/base/json_text.h"
#include "core/capture/compile_artifacts.h"
#include "core/capture/cpp_wrapper.h"
#include "core/capture/package_manifest.h"

namespace jointer {
namespace {

constexpr std::string_view kModels = "data/aotinductor/", kWrapperEnd = ".wrapper.cpp",
                           kKernelEnd = ".kernel.cpp", kLibraryEnd = ".so",
                           kInformation = "kernel_information.json";
// Wrappers of large models are tens of megabytes long.
constexpr std::size_t kMaxTexts = std::size_t{512} << 20;
constexpr std::size_t kMaxModels = 1000;

std::string_view folder_in(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash + 1);
}

// Returns "model" for "archive/data/aotinductor/model/".
std::string_view model_in(std::string_view folder) {
  folder = folder.substr(0, folder.empty() ? 0 : folder.size() - 1);
  const std::size_t slash = folder.rfind('/');
  return slash == std::string_view::npos ? folder : folder.substr(slash + 1);
}

bool is_model_file(std::string_view path) {
  return path.find(kModels) != std::string_view::npos;
}

const OrderedJson* member_at(const OrderedJson& json, const char* key) {
  if (!json.is_object()) return nullptr;
  const auto it = json.find(key);
  return it == json.end() ? nullptr : &*it;
}

std::vector<std::string> names_at(const OrderedJson& json, const char* key) {
  std::vector<std::string> names;
  const OrderedJson* const list = member_at(json, key);
  if (list == nullptr || !list->is_array()) return names;
  for (const OrderedJson& each : *list)
    if (each.is_string()) names.push_back(each.get<std::string>());
  return names;
}

// Returns the targets in a document such as
// {"nodes": [{"name": "buf0", "node": {"target": "_c10d_functional::all_reduce", ...}}, ...]}.
std::vector<std::string> proxy_targets(const OrderedJson& json) {
  std::vector<std::string> targets;
  const OrderedJson* const nodes = member_at(json, "nodes");
  if (nodes == nullptr || !nodes->is_array()) return targets;
  for (const OrderedJson& each : *nodes) {
    const OrderedJson* const node = member_at(each, "node");
    const OrderedJson* const target = node == nullptr ? nullptr : member_at(*node, "target");
    targets.push_back(target != nullptr && target->is_string() ? target->get<std::string>()
                                                               : std::string());
  }
  return targets;
}

// Finds the member for a kernel. A key is the handle of a call ("cpp_fused_add_0:3") or the name of
// a kernel.
const OrderedJson* information_of(const OrderedJson& information, const CompiledKernel& kernel) {
  if (const auto it = information.find(kernel.handle);
      !kernel.handle.empty() && it != information.end())
    return &*it;
  const auto it = information.find(kernel.name);
  return it == information.end() ? nullptr : &*it;
}

void add_information(CompiledProgram& program, const OrderedJson& information) {
  if (!information.is_object()) return;
  for (CompiledKernel& kernel : program.kernels) {
    const OrderedJson* const known = information_of(information, kernel);
    if (known == nullptr) continue;
    kernel.nodes = names_at(*known, "post_grad_nodes");
    kernel.original_nodes = names_at(*known, "pre_grad_nodes");
    if (!kernel.nodes.empty()) kernel.nodes_from = NodesFrom::provenance;
    for (const std::string& stack : names_at(*known, "stack_traces")) kernel.stack += stack;
  }
}

// The operator that a kernel calls: "aten.mm.default" for `extern_kernels.mm`; empty for one of
// Inductor's kernels.
std::string called_operator(const CompiledKernel& kernel) {
  std::string_view name = kernel.name;
  constexpr std::string_view kOps = "torch.ops.", kExtern = "extern_kernels.";
  if (kernel.source) return {};
  if (name.starts_with(kOps)) return std::string(name.substr(kOps.size()));
  if (name.starts_with(kExtern)) return fmt::format("aten.{}.default", name.substr(kExtern.size()));
  return {};
}

// Returns "mm" for "aten.mm.default". Inductor calls in-place and `out` variants of the operators
// in the graph (`all_reduce_`, `mm_out`), so these suffixes are removed.
std::string_view base_name(std::string_view op) {
  op.remove_prefix(std::min(op.find('.'), op.size() - 1) + 1);
  op = op.substr(0, op.find('.'));
  for (const std::string_view end : {"_out", "_"})
    if (op.ends_with(end)) {
      op.remove_suffix(end.size());
      break;
    }
  return op;
}

// True if the name is that of an operator's node: "mm" or "mm_12" for "aten.mm.default".
bool is_named_after(std::string_view node, std::string_view op) {
  const std::string_view base = base_name(op);
  if (base.empty() || !node.starts_with(base)) return false;
  node.remove_prefix(base.size());
  return node.empty() || (node.front() == '_' && is_digits(node.substr(1)));
}

// For a call of an operator, keeps only the nodes that are named after the operator, if there are
// any. Otherwise the comment above the call may name the node in the graph before Inductor's
// passes. The comment counts if provenance names no node or, for communication, only other nodes,
// such as a view of the input.
void find_nodes_of_operators(CompiledProgram& program) {
  for (CompiledKernel& kernel : program.kernels) {
    const std::string op = called_operator(kernel);
    if (op.empty()) continue;
    const auto is_other = [&](const std::string& name) { return !is_named_after(name, op); };
    if (!std::ranges::all_of(kernel.original_nodes, is_other))
      std::erase_if(kernel.original_nodes, is_other);
    if (!std::ranges::all_of(kernel.nodes, is_other)) {
      std::erase_if(kernel.nodes, is_other);
      continue;
    }
    const bool is_communication =
        kernel.kind == CompiledKind::collective || kernel.kind == CompiledKind::wait;
    if (!kernel.nodes.empty() && !is_communication) continue;
    std::vector<std::string> named = kernel.source_nodes;
    std::erase_if(named, is_other);
    if (named.size() != 1) continue;
    if (op.find(fmt::format(".{}.", base_name(op))) != std::string::npos)
      program.targets.insert_or_assign(named.front(), op);
    kernel.nodes = kernel.original_nodes = std::move(named);
    kernel.nodes_from = NodesFrom::comments;
  }
}

// Removes from Inductor's kernels the nodes that calls of operators run: for kernels in C++,
// provenance also names the calls of operators that read the kernels' results in a fixed layout.
void leave_nodes_to_operators(CompiledProgram& program) {
  std::set<std::string> run_by_call;
  for (const CompiledKernel& kernel : program.kernels)
    if (!kernel.source && kernel.nodes_from == NodesFrom::provenance)
      run_by_call.insert(kernel.nodes.begin(), kernel.nodes.end());
  for (CompiledKernel& kernel : program.kernels)
    if (kernel.source)
      std::erase_if(kernel.nodes, [&](const std::string& name) {
        return run_by_call.find(name) != run_by_call.end();
      });
}

// Adds the manifest's facts. Finds the names of nodes in the captured graph, since the compiled
// graph may use the same names for different nodes.
void add_manifest(CompiledProgram& program, const PackageManifest& manifest) {
  program.name = manifest.title();
  program.half = manifest.half();
  program.torch_version = manifest.torch;
  if (manifest.origins.empty()) return;
  program.is_retraced = true;
  for (CompiledKernel& kernel : program.kernels) {
    if (kernel.nodes_from == NodesFrom::comments) continue;
    kernel.original_nodes.clear();
    for (const std::string& node : kernel.nodes) {
      const auto origins = manifest.origins.find(node);
      if (origins == manifest.origins.end()) continue;
      for (const std::string& origin : origins->second)
        if (std::ranges::find(kernel.original_nodes, origin) == kernel.original_nodes.end())
          kernel.original_nodes.push_back(origin);
    }
  }
}

class PackageReader {
 public:
  PackageReader(const ZipArchive& archive, const std::string& path)
      : archive_(archive), path_(path) {}

  Result<std::vector<CompiledProgram>> read() {
    std::vector<CompiledProgram> programs;
    const auto manifest = read_package_manifest(path_);
    for (const ZipEntry& entry : archive_.entries()) {
      if (!is_model_file(entry.name) || !entry.name.ends_with(kWrapperEnd)) continue;
      if (programs.size() == kMaxModels)
        return input_error("{}: the package has more than {} models", path_, kMaxModels);
      JOINTER_TRY(CompiledProgram program, program_of(entry));
      if (manifest) add_manifest(program, *manifest);
      programs.push_back(std::move(program));
    }
    if (programs.empty()) return no_wrapper();
    return programs;
  }

 private:
  Result<CompiledProgram> program_of(const ZipEntry& wrapper) {
    const std::string folder(folder_in(wrapper.name));
    std::string stem = wrapper.name;
    stem.resize(stem.size() - kWrapperEnd.size());
    CppWrapper texts;
    JOINTER_TRY(texts.text, text_of(wrapper));
    for (const ZipEntry& entry : archive_.entries())
      if (folder_in(entry.name) == folder && entry.name.ends_with(kKernelEnd)) {
        JOINTER_TRY(const std::string kernels, text_of(entry));
        texts.kernels += kernels;
      }
    JOINTER_TRY(const auto nodes, json_of(stem + ".wrapper.json"));
    if (nodes) texts.targets = proxy_targets(*nodes);
    JOINTER_TRY(const auto information, json_of(folder + std::string(kInformation)));
    const std::string place = fmt::format("{}: {}", path_, wrapper.name);
    JOINTER_TRY(CompiledProgram program, read_cpp_wrapper(place, std::move(texts)));
    program.file = path_;
    program.name = model_in(folder);
    if (information) add_information(program, *information);
    find_nodes_of_operators(program);
    leave_nodes_to_operators(program);
    assign_nodes(program);
    return program;
  }

  // All texts of a package together are limited, so that a small archive cannot fill the memory.
  Result<std::string> text_of(const ZipEntry& entry) {
    JOINTER_TRY(std::string text, archive_.read(entry, kMaxTexts - read_));
    read_ += text.size();
    return text;
  }

  // Reads a JSON file of the archive; nullopt if the archive lacks the file.
  Result<std::optional<OrderedJson>> json_of(const std::string& name) {
    const auto& entries = archive_.entries();
    const auto entry = std::ranges::find(entries, name, &ZipEntry::name);
    if (entry == entries.end()) return std::optional<OrderedJson>();
    JOINTER_TRY(const std::string text, text_of(*entry));
    JOINTER_TRY(OrderedJson json, parse_json(text, fmt::format("{}: {}", path_, name)));
    return std::optional<OrderedJson>(std::move(json));
  }

  [[nodiscard]] tl::unexpected<Error> no_wrapper() const {
    if (!is_aoti_package(archive_))
      return input_error(
          "{}: a ZIP archive without compiled code of AOTInductor; compile an exported program "
          "with torch._inductor.aoti_compile_and_package",
          path_);
    const auto& entries = archive_.entries();
    const auto library = std::ranges::find_if(entries, [](const ZipEntry& entry) {
      return is_model_file(entry.name) && entry.name.ends_with(kLibraryEnd);
    });
    return input_error(
        "{}: the package has {} but not the wrapper that it was compiled from (*{}); compile it "
        "again with torch._inductor.aoti_compile_and_package, which keeps the wrapper because it "
        "sets torch._inductor.config.aot_inductor.package = True",
        path_, library == entries.end() ? "files of AOTInductor" : library->name, kWrapperEnd);
  }

  const ZipArchive& archive_;
  const std::string& path_;
  std::size_t read_ = 0;  // bytes
};

}  // namespace

bool is_aoti_package(const ZipArchive& archive) {
  return std::ranges::any_of(archive.entries(),
                             [](const ZipEntry& entry) { return is_model_file(entry.name); });
}

Result<std::vector<CompiledProgram>> read_aoti_package(const ZipArchive& archive,
                                                       const std::string& path) {
  return PackageReader(archive, path).read();
}

Result<std::vector<CompiledProgram>> read_aoti_package(const std::string& path) {
  JOINTER_TRY(const ZipArchive archive, ZipArchive::open(path));
  return read_aoti_package(archive, path);
}

}  // namespace jointer
