#include "app/runner/backends/compiled.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "app/runner/backends/compiler.h"
#include "app/runner/backends/package.h"
#include "app/runner/support/torch_version.h"
#include "core/base/counted.h"

namespace jointer::runner {
namespace {

// Finds the part of the graph from which the package was compiled: the only part, or the part of
// the package's phase. Null if the graph has no such part.
PartId part_of(const Graph& graph, const CompiledPackage& package) {
  const std::string& phase = package.phase == "region" ? package.of : package.phase;
  for (std::size_t p = 0; p < graph.part_count(); ++p) {
    const PartId id(static_cast<std::uint32_t>(p));
    if (graph.part_count() == 1 || to_string(graph.part(id).kind) == phase) return id;
  }
  return {};
}

// Returns the calls and constants of the part, all of which a package of a whole part replaces.
std::vector<NodeId> computing_nodes(const Graph& graph, PartId part) {
  std::vector<NodeId> nodes;
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (node.part == part && (node.kind == NodeKind::call || node.kind == NodeKind::get_attr))
      nodes.push_back(id);
  }
  return nodes;
}

Result<CompiledRegion> region_of(const Graph& graph, const CompiledPackage& package,
                                 at::Device device) {
  if (!matches_release(package.torch))
    return fail(Error::Kind::run,
                "{0} was compiled by torch {1}, but this runner is built with torch {2}; set "
                "JOINTER_PYTHON to a Python with torch {2}",
                package.path, package.torch, torch_version());
  const PartId part = part_of(graph, package);
  if (!part)
    return fail(Error::Kind::run,
                "{}: the package was compiled from a {} graph, which is not a half of this pair; "
                "delete the file, so that the pair is compiled again",
                package.path, package.phase == "region" ? package.of : package.phase);
  CompiledRegion region;
  const auto find = [&](const std::string& name, std::vector<NodeId>& into) -> Result<void> {
    const NodeId node = graph.find(part, name);
    if (!node)
      return fail(Error::Kind::run,
                  "{}: the package names {}, which is not a node of the graph; delete the file, so "
                  "that the graph is compiled again",
                  package.path, name);
    into.push_back(node);
    return {};
  };
  PackageCall call;
  for (const PackageValue& input : package.inputs) {
    JOINTER_CHECK(find(input.name, region.inputs));
    call.input_is_number.push_back(input.is_number);
  }
  for (const PackageValue& output : package.outputs) {
    JOINTER_CHECK(find(output.name, region.outputs));
    call.output_is_number.push_back(output.is_number);
  }
  for (const std::string& name : package.replaces) {
    JOINTER_CHECK(find(name, region.nodes));
  }
  if (package.phase != "region") region.nodes = computing_nodes(graph, part);
  std::ranges::sort(region.nodes, {}, [&](NodeId id) { return graph.position(id); });
  if (region.nodes.empty())
    return fail(
        Error::Kind::run,
        "{}: the package replaces no nodes; delete the file, so that the graph is compiled again",
        package.path);
  JOINTER_TRY(region.function, load_package(package.path, device, std::move(call)));
  return region;
}

}  // namespace

Result<std::vector<CompiledRegion>> compile_regions(const Graph& graph,
                                                    const CompileOptions& options,
                                                    Reporter& reporter) {
  const BenchmarkRequest& request = options.request;
  if (request.graph_index)
    return fail(
        Error::Kind::run,
        "option --graph: the runner compiles only files that contain a single graph or pair; use "
        "`jointer bench`, which writes the graph to its own file");
  const CompilerListener listener{
      .progress = [&](const std::string&, std::int64_t done,
                      std::int64_t total) { reporter.stage("compile", done, total); },
      .note = [&](const std::string& text) { reporter.note(text); }};
  const std::optional<int> gpu =
      options.device.is_cpu() ? std::nullopt : std::optional<int>(options.device.index());
  JOINTER_TRY(const std::vector<CompiledPackage> packages,
              run_compiler({.graph = options.files.graph,
                            .backward = options.files.backward,
                            .method = std::string(to_string(request.backend)),
                            .on = options.device.is_cpu() ? "cpu" : "cuda",
                            .marked = request.marked,
                            .assumptions = request.assumptions,
                            .artifacts = request.artifacts,
                            .torch = std::string(torch_version()),
                            .rank = options.rank,
                            .gpu = gpu},
                           listener));
  std::vector<CompiledRegion> regions;
  for (const CompiledPackage& package : packages) {
    JOINTER_TRY(CompiledRegion region, region_of(graph, package, options.device));
    reporter.note(fmt::format("{}: {}, {}", package.phase, counted(region.nodes.size(), "node"),
                              package.from_cache
                                  ? std::string("compiled earlier")
                                  : fmt::format("compiled in {:.1f} s", package.seconds)));
    region.label =
        package.phase == "region" ? fmt::format("region {}", regions.size() + 1) : package.phase;
    regions.push_back(std::move(region));
  }
  return regions;
}

}  // namespace jointer::runner
