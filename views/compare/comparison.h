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
  // Differences between the plans of a joint graph or a flat training step; null if there are none
  // or while they are being computed.
  PlanChangesPtr plan;
};

// Call it on a worker thread. Error (usage): only one of the states is a pair.
Result<Comparison> compare_states(ComparedState from, ComparedState to,
                                  Matching matching = Matching::by_name);

// The numbers of both states, beginning with those of their plans.
std::vector<MetricRow> metric_rows(const Comparison& comparison);

// The numbers, the changes to the plan, and the differing nodes as text.
QString comparison_markdown(const Comparison& comparison);
QString comparison_tsv(const Comparison& comparison);

}  // namespace jointer::views
