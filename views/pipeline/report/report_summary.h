#pragma once

// What some steps of a pipeline did, in figures and counts. Plain functions of what was run.

#include <QString>
#include <span>
#include <vector>

#include "views/compare/metric_rows.h"
#include "views/compare/node_differences.h"
#include "views/pipeline/report/reported_step.h"

namespace jointer::views {

// Before the first step and after the last one. There is one at least.
std::vector<MetricRow> report_rows(std::span<const ReportedStep> steps);

// "sink_waits_iterative{budget=0.05}", or "3 steps: apply_sac, ...".
QString report_title(std::span<const ReportedStep> steps);
// "took 41.2 ms · 291 decisions"
QString report_effort(std::span<const ReportedStep> steps);

// A count of the summary, which leads to its rows.
struct ReportCount {
  QString link;  // "moved": of a NodeChange as its number; "merged"
  QString text;  // "moved 412"
};
// What changed. `merged` collectives count beside the nodes.
std::vector<ReportCount> report_counts(const NodeDifferences& differences, std::size_t merged);

}  // namespace jointer::views
