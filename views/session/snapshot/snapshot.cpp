#include "views/session/snapshot/snapshot.h"

#include "core/compiled/compiled_step.h"

namespace jointer::views {

SnapshotPtr snapshot_of(Graph graph, Analysis analysis) {
  Users users(graph);
  const auto bands = std::make_shared<const MemoryBands>(analysis);
  TimelineData order(graph, analysis, AxisKind::program_order, bands);
  TimelineData time(graph, analysis, AxisKind::estimated_time, bands);
  return std::make_shared<const Snapshot>(Snapshot{.graph = std::move(graph),
                                                   .users = std::move(users),
                                                   .analysis = std::move(analysis),
                                                   .program_order = std::move(order),
                                                   .estimated_time = std::move(time)});
}

Result<SnapshotPtr> make_snapshot(Graph graph, const AnalysisOptions& options,
                                  const std::function<bool()>& is_cancelled) {
  JOINTER_TRY(Analysis analysis, analyze_step(graph, options, nullptr, is_cancelled));
  return snapshot_of(std::move(graph), std::move(analysis));
}

}  // namespace jointer::views
