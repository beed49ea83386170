#pragma once

// Applies lists of edits on a worker thread: for recipes, workspaces and the metrics of histories.

#include <atomic>
#include <map>
#include <string>
#include <vector>

#include "views/session/edit/edit_history.h"
#include "views/session/edit/metrics.h"

namespace jointer::views {

struct EditRun {
  EditHistory done;
  std::vector<std::string> refused;  // one sentence per edit that is not legal
  bool same_calls = true;            // all applied edits keep the calls
};

// Applies the legal ones among `edits`.
EditRun run_edits(Graph& graph, const std::vector<Edit>& edits);

using MetricsByHistory = std::map<EditHistory, Metrics>;

// The metrics of each history, starting from `baseline`. A history that extends its predecessor
// costs only the additional edits. Returns early once `cancel` is true.
MetricsByHistory metrics_of_histories(const Snapshot& baseline,
                                      const std::vector<EditHistory>& histories,
                                      const std::atomic<bool>& cancel);

// The snapshot that a history leads to.
Result<SnapshotPtr> snapshot_of_history(const SnapshotPtr& baseline,
                                        const std::vector<Edit>& edits);

}  // namespace jointer::views
