#include "app/cli/commands/compiled_answer.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "app/cli/commands/names_text.h"
#include "core/base/checked.h"
#include "core/base/counted.h"
#include "core/base/units.h"
#include "core/capture/compile_artifacts.h"
#include "core/capture/compiled_memory.h"
#include "core/capture/package_manifest.h"
#include "core/cost/node_flops.h"
#include "core/graph/canonical.h"

namespace jointer::cli {
namespace {

constexpr std::size_t kMaxListed = 8;

Json name_list(const Graph& graph, const std::vector<NodeId>& nodes) {
  Json names = Json::array();
  for (const NodeId id : nodes) names.push_back(std::string(graph.name(id)));
  return names;
}

// The bytes of the buffers that a kernel reads, or of those that it writes (`is_used`). Each buffer
// counts once; a buffer of unknown size counts as 0.
std::int64_t used_bytes(const CompiledKernel& kernel, bool CompiledUse::*is_used) {
  std::int64_t bytes = 0;
  for (const CompiledUse* use : distinct_uses(kernel, is_used))
    bytes = saturating_add(bytes, use->bytes.value_or(0));
  return bytes;
}

bool is_on_device(CompiledKind kind) {
  return kind != CompiledKind::collective && kind != CompiledKind::wait &&
         kind != CompiledKind::view;
}

Json kernel_json(const CompiledProgram& program, const CompiledKernel& kernel, const Graph& graph,
                 const std::vector<NodeId>& nodes) {
  const std::int64_t reads = used_bytes(kernel, &CompiledUse::is_read),
                     writes = used_bytes(kernel, &CompiledUse::is_written);
  std::int64_t flops = 0;
  for (const NodeId id : nodes)
    flops = saturating_add(flops, node_flops(graph, graph.node(id)).total);
  const bool computes_matrices =
      kernel.kind == CompiledKind::external || kernel.kind == CompiledKind::matrix_template;
  Json json{{"name", kernel.name},
            {"kind", std::string(to_string(kernel.kind))},
            {"nodes", name_list(graph, nodes)},
            {"reads_bytes", reads},
            {"writes_bytes", writes},
            {"bytes", saturating_add(reads, writes)},
            {"flops", computes_matrices ? flops : 0},
            {"ms", nullptr},
            {"nodes_from", std::string(to_string(kernel.nodes_from))},
            {"post_grad_nodes", kernel.nodes},
            {"line", kernel.line},
            {"call", kernel.call}};
  if (!kernel.original_nodes.empty()) json["original_nodes"] = kernel.original_nodes;
  if (!kernel.operators.empty()) json["operators"] = kernel.operators;
  if (!kernel.stack.empty()) json["stack"] = kernel.stack;
  if (kernel.source) {
    const KernelSource& source = program.sources[*kernel.source];
    json["language"] = source.language;
    if (!source.heuristic.empty()) json["heuristic"] = source.heuristic;
  }
  Json buffers = Json::array();
  for (const CompiledUse& use : kernel.uses)
    buffers.push_back({{"name", use.name},
                       {"bytes", use.bytes ? Json(*use.bytes) : Json(nullptr)},
                       {"read", use.is_read},
                       {"written", use.is_written}});
  json["buffers"] = std::move(buffers);
  return json;
}

std::string_view event_text(CompiledEvent::Kind kind) {
  switch (kind) {
    case CompiledEvent::Kind::allocate:
      return "allocate";
    case CompiledEvent::Kind::release:
      return "release";
    case CompiledEvent::Kind::reuse:
      return "reuse";
    case CompiledEvent::Kind::run:
      break;
  }
  return "run";
}

Json events_json(const CompiledProgram& program) {
  Json events = Json::array();
  for (const CompiledEvent& event : program.events) {
    Json json{{"event", std::string(event_text(event.kind))}, {"name", event.name}};
    if (event.kind != CompiledEvent::Kind::run) {
      const BufferBlock& block = program.blocks[event.index];
      const auto bytes = block.bytes();
      json["block"] = block.name;
      json["bytes"] = bytes ? Json(*bytes) : Json(nullptr);
    }
    events.push_back(std::move(json));
  }
  return events;
}

Json sources_json(const CompiledProgram& program) {
  Json sources = Json::object();
  for (const KernelSource& source : program.sources) sources[source.name] = source.text;
  return sources;
}

// The compiled packages of this part in the cache. Packages that cannot be read are listed in
// `problems`; if none can be read, the first problem is the error.
Result<CompileArtifacts> cached_artifacts(const Graph& graph, PartId part) {
  const std::string folder = compiled_cache_folder();
  CompileArtifacts artifacts;
  for (const std::string& path : cached_packages(folder, graph_hash(graph, part))) {
    auto found = read_compile_artifacts(path);
    if (!found) {
      artifacts.problems.push_back(std::move(found.error().message));
      continue;
    }
    std::ranges::move(found->programs, std::back_inserter(artifacts.programs));
    std::ranges::move(found->problems, std::back_inserter(artifacts.problems));
  }
  if (!artifacts.programs.empty()) return artifacts;
  if (!artifacts.problems.empty()) return input_error("{}", artifacts.problems.front());
  return fail(Error::Kind::usage,
              "option --source: {} has no package of this graph, so the source `compiled` needs "
              "--artifacts (the TORCH_TRACE folder or log of the compilation, a wrapper that "
              "Inductor wrote, or a .pt2 package); `jointer bench --backend inductor` makes a "
              "package",
              folder);
}

}  // namespace

Result<OpenedCompilation> open_compilation(const std::string& path, const Graph& graph,
                                           PartId part) {
  OpenedCompilation opened;
  opened.is_from_cache = path.empty();
  JOINTER_TRY(opened.artifacts,
              path.empty() ? cached_artifacts(graph, part) : read_compile_artifacts(path));
  opened.best = best_program(opened.artifacts.programs, graph, part);
  opened.ties = tie_kernels(opened.program(), graph, part);
  return opened;
}

Json compiled_answer(const OpenedCompilation& opened, const Graph& graph) {
  const CompileArtifacts& artifacts = opened.artifacts;
  const CompiledProgram& program = opened.program();
  const TiedKernels& ties = opened.ties;
  const CompiledMemory memory = compiled_memory(program);

  Json kernels = Json::array(), untied = Json::array(), compilations = Json::array();
  std::int64_t on_device = 0, bound = 0, bound_bytes = 0;
  for (std::size_t i = 0; i < program.kernels.size(); ++i) {
    Json json = kernel_json(program, program.kernels[i], graph, ties.nodes[i]);
    if (is_on_device(program.kernels[i].kind)) {
      ++on_device;
      if (json["flops"].get<std::int64_t>() == 0) {
        ++bound;
        bound_bytes = saturating_add(bound_bytes, json["bytes"].get<std::int64_t>());
      }
    }
    kernels.push_back(std::move(json));
  }
  for (const std::size_t i : ties.untied) untied.push_back(program.kernels[i].name);
  for (const CompiledProgram& each : artifacts.programs)
    compilations.push_back(
        {{"name", each.name}, {"file", each.file}, {"kernels", each.kernels.size()}});

  std::string device = program.device();
  Json answer{{"device", device.empty() ? "unknown" : std::move(device)},
              {"source", "compiled"},
              {"torch", program.torch_version.substr(0, program.torch_version.find('+'))},
              {"kernels", std::move(kernels)},
              {"device_kernels", on_device},
              {"memory_bound", {{"kernels", bound}, {"bytes", bound_bytes}}},
              {"peak_bytes", memory.peak_bytes},
              {"not_fused", Json::array()},
              {"compilation", program.name},
              {"file", program.file},
              {"from_cache", opened.is_from_cache},
              {"compilations", std::move(compilations)},
              {"input_bytes", memory.input_bytes},
              {"blocks",
               {{"number", program.blocks.size()},
                {"unknown", memory.unknown_blocks},
                {"assumed", memory.assumed_blocks}}},
              {"events", events_json(program)},
              {"sources", sources_json(program)},
              {"collective_schedule", program.schedule},
              {"untied_kernels", std::move(untied)},
              {"unknown_nodes", ties.unknown},
              {"tied_calls", ties.tied_calls},
              {"calls_without_kernel", name_list(graph, ties.without_kernel)},
              {"unread", program.unread},
              {"problems", artifacts.problems},
              {"ignored_files", artifacts.ignored}};
  return answer;
}

void print_ties(const Json& answer) {
  const auto line = [&](const char* key, std::string_view one, std::string_view several) {
    if (const Json& names = answer[key]; !names.empty())
      fmt::print("{}: {}\n", counted(names.size(), one, several), names_text(names, kMaxListed));
  };
  fmt::print("\n{} of the graph in the kernels of {}\n",
             counted(answer["tied_calls"].get<std::size_t>(), "call"),
             answer["compilation"].get<std::string>());
  if (answer.value("from_cache", false))
    fmt::print("read from the cache of packages: {}\n", answer["file"].get<std::string>());
  line("untied_kernels", "kernel without a call in the graph",
       "kernels without a call in the graph");
  line("unknown_nodes", "node of the compiled graph that the graph lacks",
       "nodes of the compiled graph that the graph lacks");
  line("calls_without_kernel", "call that no kernel names", "calls that no kernel names");
  line("unread", "statement of the wrapper that was not understood",
       "statements of the wrapper that were not understood");
  line("problems", "artifact that could not be read", "artifacts that could not be read");
  const Json& blocks = answer["blocks"];
  if (const auto unknown = blocks["unknown"].get<std::size_t>(); unknown > 0)
    fmt::print("{} of {} {} an unknown size and {} as 0 bytes\n", format_count(unknown),
               counted(blocks["number"].get<std::size_t>(), "block"), unknown == 1 ? "has" : "have",
               unknown == 1 ? "counts" : "count");
  if (const auto assumed = blocks["assumed"].get<std::size_t>(); assumed > 0)
    fmt::print("{} assumed to have the data type of {} kernel's first input\n",
               counted(assumed, "block is", "blocks are"), assumed == 1 ? "its" : "their");
}

}  // namespace jointer::cli
