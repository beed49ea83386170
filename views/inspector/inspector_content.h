#pragma once

#include <QString>
#include <vector>

#include "views/document/snapshot.h"
#include "views/timeline/measured_timeline.h"

namespace jointer::views {

// Where a figure is from.
enum class Provenance : std::uint8_t {
  captured,   // it is in the capture
  computed,   // it follows from the capture
  derived,    // by a rule, where the capture is silent
  estimated,  // by a model of the device
  measured,   // by a run
  assumed,    // from a number that a symbol was given
};
QString provenance_text(Provenance provenance);

// What is said of a node, apart from how it is drawn.
struct InspectorRow {
  QString label;
  QString value;
  Provenance provenance = Provenance::captured;
  QString note = {};     // how the value is made, for the tooltip
  bool is_code = false;  // names, operators, source: fixed width
  // Nodes behind the value; a click selects one. Those that are too many to list are in the value.
  std::vector<NodeId> links = {};
  // Behind the links: all of them, where `links` has only the first ones.
  std::vector<NodeId> all_links = {};
};

struct InspectorSection {
  QString title;
  std::vector<InspectorRow> rows;
};

// A line of source that a node is from.
struct SourceLine {
  QString file, function, code;
  int line = 0;
};

struct InspectorContent {
  QString title;     // "mm_214"
  QString subtitle;  // "aten.mm.default"
  std::vector<InspectorSection> sections;
  std::vector<SourceLine> stack;  // innermost first
};

// `measured`: what is shown beside the estimates, or null.
InspectorContent describe(const Snapshot& snapshot, NodeId node,
                          const MeasuredTimeline* measured = nullptr);
// Of several nodes: what they add up to.
InspectorContent describe(const Snapshot& snapshot, std::span<const NodeId> nodes,
                          const MeasuredTimeline* measured = nullptr);

// Arguments as FX prints them: `mm_1, 'sum', [1, 2]`.
QString arguments_text(const Graph& graph, const Node& node);

}  // namespace jointer::views
