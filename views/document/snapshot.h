#pragma once

#include <memory>

#include "core/graph/graph.h"
#include "core/graph/users.h"
#include "core/schedule/analysis.h"
#include "views/timeline/timeline_data.h"

namespace jointer::views {

// A graph and everything that is shown of it, made on a working thread and never changed
// afterwards, so that threads share it freely.
struct Snapshot {
  Graph graph;
  Users users;
  Analysis analysis;
  TimelineData program_order, estimated_time;

  // In program order, or else in estimated time.
  [[nodiscard]] const TimelineData& timeline(AxisKind kind) const {
    return kind == AxisKind::program_order ? program_order : estimated_time;
  }
};
using SnapshotPtr = std::shared_ptr<const Snapshot>;

// Of a graph and its analysis.
SnapshotPtr snapshot_of(Graph graph, Analysis analysis);
// Error (usage): as analyze.
Result<SnapshotPtr> make_snapshot(Graph graph, const AnalysisOptions& options);

}  // namespace jointer::views
