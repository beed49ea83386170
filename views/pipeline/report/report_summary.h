#pragma once

// Functions that summarize the results of pipeline steps as metrics and counts.

#include <QString>
#include <span>
#include <vector>

#include "views/differences/metric_rows.h"
#include "views/differences/node_differences.h"
#include "views/pipeline/report/reported_step.h"

namespace jointer::views {

// Compares the graph before the first step with the graph after the last step. `steps` must not be
// empty.
std::vector<MetricRow> report_rows(std::span<const ReportedStep> steps);

// For example, "sink_waits_iterative{budget=0.05}" or "3 steps: apply_sac, ...".
QString report_title(std::span<const ReportedStep> steps);
// "took 41.2 ms · 291 decisions"
QString report_effort(std::span<const ReportedStep> steps);

// A count in the summary, and the link to the counted rows.
struct ReportCount {
  QString link;  // a NodeChange as a number, or "merged"
  QString text;  // "412 moved"
};
// The number of nodes for each kind of change that occurred. `merged` is the number of merged
// collectives.
std::vector<ReportCount> report_counts(const NodeDifferences& differences, std::size_t merged);

}  // namespace jointer::views
