#pragma once

#include <functional>
#include <memory>

#include "core/graph/graph.h"
#include "core/graph/users.h"
#include "core/schedule/analysis.h"
#include "views/session/snapshot/timeline_data.h"

namespace jointer::views {

// A graph and its analysis, prepared for panes. Built on a worker thread and immutable afterwards,
// so that threads can share it.
struct Snapshot {
  Graph graph;
  Users users;
  Analysis analysis;
  TimelineData program_order, estimated_time;

  // `kind`: program_order or estimated_time.
  [[nodiscard]] const TimelineData& timeline(AxisKind kind) const {
    return kind == AxisKind::program_order ? program_order : estimated_time;
  }
};
using SnapshotPtr = std::shared_ptr<const Snapshot>;

// A document's graph in its current state and as opened, analyzed with the same options. Without
// edits, both are the same object.
struct DocumentState {
  SnapshotPtr now, baseline;
};

SnapshotPtr snapshot_of(Graph graph, Analysis analysis);
// `is_cancelled` may be empty; once it returns true, the result is Error::Kind::cancelled. Other
// errors: see `analyze_step`.
Result<SnapshotPtr> make_snapshot(Graph graph, const AnalysisOptions& options,
                                  const std::function<bool()>& is_cancelled = {});

}  // namespace jointer::views
