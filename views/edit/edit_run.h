#pragma once

// Edits done one after another, on a working thread: recipes, workspaces, the figures of a history.

#include <atomic>
#include <map>
#include <string>
#include <vector>

#include "views/edit/edit_line.h"
#include "views/edit/metrics.h"

namespace jointer::views {

struct EditRun {
  EditLine done;
  std::vector<std::string> refused;  // a sentence for each edit that is not legal
  bool same_calls = true;            // all that was done keeps the calls
};

// Does to the graph what is legal of `edits`.
EditRun run_edits(Graph& graph, const std::vector<Edit>& edits);

using MetricsByLine = std::map<EditLine, Metrics>;

// Of each line, starting from `baseline`; lines that extend the one before them cost only what they
// add. Ends early once `cancel` is true.
MetricsByLine metrics_of_lines(const Snapshot& baseline, const std::vector<EditLine>& lines,
                               const std::atomic<bool>& cancel);

// What a line leads to.
Result<SnapshotPtr> snapshot_of_line(const SnapshotPtr& baseline, const std::vector<Edit>& edits);

}  // namespace jointer::views
