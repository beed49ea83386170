#include <fmt/format.h>
#include <vector>

#include "core/base/units.h"
#include "core/report/export.h"

namespace jointer {
namespace {

std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

// Writes one cluster per module; clusters are nested like the modules.
class DotWriter {
 public:
  DotWriter(const Graph& graph, const Analysis& analysis)
      : graph_(graph), analysis_(analysis), members_(analysis.modules.size()) {
    for (const NodeId id : graph.order()) members_[analysis.modules.of(id).index()].push_back(id);
  }

  std::string run() {
    out_ = "digraph " + in_quotes(graph_.title()) +
           " {\n  node [shape=box style=filled fillcolor=white fontsize=10];\n";
    module(analysis_.modules.root(), 1);
    edges();
    return out_ + "}\n";
  }

 private:
  void module(ModuleId id, int depth) {
    const Module& m = analysis_.modules.module(id);
    const std::string indent(static_cast<std::size_t>(2 * depth), ' ');
    const bool is_root = !m.parent;
    if (!is_root)
      fmt::format_to(std::back_inserter(out_), "{}subgraph cluster_{} {{\n{}  label={};\n", indent,
                     id.index(), indent,
                     in_quotes(m.segment + (m.type.empty() ? "" : ": " + m.type)));
    for (const NodeId node : members_[id.index()]) this->node(node, indent);
    for (const ModuleId child : m.children) module(child, depth + 1);
    if (!is_root) out_ += indent + "}\n";
  }

  void node(NodeId id, const std::string& indent) {
    const Node& n = graph_.node(id);
    const char* color = n.kind != NodeKind::call        ? "#eeeeee"
                        : graph_.is_collective_start(n) ? "#e69f00"
                        : graph_.is_wait(n)             ? "#f0e442"
                        : n.phase == Phase::backward    ? "#cfe8f7"
                                                        : "white";
    fmt::format_to(std::back_inserter(out_), "{}  n{} [label={} fillcolor=\"{}\"];\n", indent,
                   id.index(), in_quotes(fmt::format("{}\n{}", graph_.name(id), graph_.target(n))),
                   color);
  }

  void edges() {
    for (const NodeId id : graph_.order()) {
      for (const NodeId input : graph_.inputs(id)) {
        const bool saved = graph_.node(input).phase == Phase::forward &&
                           graph_.node(id).phase == Phase::backward &&
                           graph_.node(input).kind == NodeKind::call;
        fmt::format_to(std::back_inserter(out_), "  n{} -> n{} [label={}{}];\n", input.index(),
                       id.index(), in_quotes(format_bytes(graph_.output_bytes(graph_.node(input)))),
                       saved ? " style=bold color=\"#d55e00\"" : "");
      }
    }
  }

  const Graph& graph_;
  const Analysis& analysis_;
  std::vector<std::vector<NodeId>> members_;  // by module
  std::string out_;
};

}  // namespace

std::string export_dot(const Graph& graph, const Analysis& analysis) {
  return DotWriter(graph, analysis).run();
}

}  // namespace jointer
