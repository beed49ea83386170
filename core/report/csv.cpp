#include "core/report/export.h"

namespace jointer {
namespace {

// Quoted where the text holds a separator, a quote or a line end.
std::string cell(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace

std::string export_csv(const Graph& graph, const Analysis& analysis) {
  std::string out = "index,name,target,phase,module,output_bytes,live_bytes,flops,start_ms,ms\r\n";
  const auto profile = analysis.memory.profile();
  std::int64_t live = profile.front();
  for (const NodeId id : graph.order()) {
    const Node& n = graph.node(id);
    if (const auto step = analysis.memory.step_of(id)) live = profile[1 + 2 * *step];
    const NodeTiming& timing = analysis.simulation.timing(id);
    fmt::format_to(std::back_inserter(out), "{},{},{},{},{},{},{},{},{:.6f},{:.6f}\r\n",
                   graph.position(id), cell(graph.name(id)), cell(graph.target(n)),
                   n.phase == Phase::forward ? "forward" : "backward",
                   cell(analysis.modules.module(analysis.modules.of(id)).path),
                   graph.output_bytes(n), live, analysis.flops[id.index()].total,
                   static_cast<double>(timing.start) / 1e6,
                   static_cast<double>(timing.end - timing.start) / 1e6);
  }
  return out;
}

}  // namespace jointer
