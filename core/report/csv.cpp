#include "core/base/cells.h"

#include <fmt/format.h>

#include "core/base/units.h"
#include "core/report/export.h"

namespace jointer {
std::string export_csv(const Graph& graph, const Analysis& analysis) {
  std::string out = "index,name,target,phase,module,output_bytes,live_bytes,flops,start_ms,ms\r\n";
  const auto profile = analysis.memory.profile();
  std::int64_t live = profile.front();
  for (const NodeId id : graph.order()) {
    const Node& n = graph.node(id);
    if (const auto point = analysis.memory.point_of(id)) live = profile[*point];
    const NodeTiming& timing = analysis.simulation.timing(id);
    fmt::format_to(std::back_inserter(out), "{},{},{},{},{},{},{},{},{:.6f},{:.6f}\r\n",
                   graph.position(id), csv_cell(graph.name(id)), csv_cell(graph.target(n)),
                   n.phase == Phase::forward ? "forward" : "backward",
                   csv_cell(analysis.modules.module(analysis.modules.of(id)).path),
                   graph.output_bytes(n), live, analysis.flops[id.index()].total,
                   to_ms(timing.start), to_ms(timing.end - timing.start));
  }
  return out;
}

}  // namespace jointer
