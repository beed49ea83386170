#pragma once

// Two states of a graph beside each other: their figures, and which nodes differ. No Qt widgets.

#include <QString>
#include <vector>

#include "core/edit/difference.h"
#include "views/edit/metrics.h"

namespace jointer::views {

struct ComparedState {
  QString name;  // "as opened", "now", "after step 3"
  SnapshotPtr snapshot;
};

enum class NodeChange : std::uint8_t { moved, added, removed, changed, retagged };
QString change_text(NodeChange change);

struct NodeDifference {
  NodeChange change = NodeChange::moved;
  NodeId node;              // of the second state; of what was removed, of the first
  std::int64_t places = 0;  // moved: how many later it runs, below 0 earlier
};

struct Comparison {
  ComparedState from, to;
  GraphDifference difference;
  std::vector<NodeDifference> nodes;  // in program order, removed ones last

  // Where a node of `nodes` is.
  [[nodiscard]] const Graph& graph_of(const NodeDifference& node) const;
  // "moved 12 of 10,944 · added 2 · removed 3"
  [[nodiscard]] QString summary() const;
};

// On a working thread. Error (usage): one is a pair, the other not.
Result<Comparison> compare_states(ComparedState from, ComparedState to);

// A figure of both states, as text.
struct MetricRow {
  QString name, from, to, difference, share;
  std::int64_t change = 0;  // above 0: more than before
};
std::vector<MetricRow> metric_rows(const Comparison& comparison);

// The figures and the nodes that differ.
QString comparison_markdown(const Comparison& comparison);
QString comparison_tsv(const Comparison& comparison);

}  // namespace jointer::views
