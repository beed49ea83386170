#pragma once

// Two states of a graph beside each other: their figures, and which nodes differ. No Qt widgets.

#include <QString>
#include <vector>

#include "views/compare/metric_rows.h"
#include "views/compare/node_differences.h"
#include "views/edit/metrics.h"

namespace jointer::views {

struct ComparedState {
  QString name;  // "as opened", "now", "after step 3"
  SnapshotPtr snapshot;
};

struct Comparison {
  ComparedState from, to;
  NodeDifferencesPtr nodes;
};

// On a working thread. Error (usage): one is a pair, the other not.
Result<Comparison> compare_states(ComparedState from, ComparedState to);

// The figures of both states.
std::vector<MetricRow> metric_rows(const Comparison& comparison);

// The figures and the nodes that differ.
QString comparison_markdown(const Comparison& comparison);
QString comparison_tsv(const Comparison& comparison);

}  // namespace jointer::views
