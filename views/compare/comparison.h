#pragma once

// Compares the numbers and nodes of two states of a graph. Uses no Qt widgets.

#include <QString>
#include <vector>

#include "views/differences/metric_rows.h"
#include "views/differences/node_differences.h"
#include "views/session/edit/metrics.h"
#include "views/session/sac/plan_changes.h"

namespace jointer::views {

struct ComparedState {
  QString name;  // such as "as opened", "now" or "state “fast”"
  SnapshotPtr snapshot;
};

struct Comparison {
  ComparedState from, to;
  NodeDifferencesPtr nodes;
  // Differences between the plans of the two states; null if there are none, if the plans cannot be
  // compared, or while they are being computed.
  PlanChangesPtr plan;
};

// Call it on a worker thread. Error (usage): only one of the states is a pair.
Result<Comparison> compare_states(ComparedState from, ComparedState to,
                                  Matching matching = Matching::by_name);

// The numbers of both states, most important first. If their plans differ, the numbers of the plans
// come before those of the graphs.
std::vector<MetricRow> metric_rows(const Comparison& comparison);

// The numbers, the changes to the plan, and the differing nodes as text. Markdown lists only the
// first 200 values and the first 200 nodes.
QString comparison_markdown(const Comparison& comparison);
QString comparison_tsv(const Comparison& comparison);

}  // namespace jointer::views
