#pragma once

#include <QString>
#include <vector>

#include "core/graph/graph.h"

namespace jointer::views {

// The source of a number.
enum class Provenance : std::uint8_t {
  captured,   // recorded in the capture
  computed,   // computed from the capture
  derived,    // derived by a rule, since the capture does not record it
  estimated,  // from a model of the device
  measured,   // from a run
  requested,  // a setting of a run: an option or its default
  assumed,    // depends on values of symbols, which may be assumed
};
QString provenance_text(Provenance provenance);

// One line of the inspector, independent of formatting.
struct InspectorRow {
  QString label;
  QString value;
  Provenance provenance = Provenance::captured;
  QString note = {};     // how the value is computed; shown as a tooltip
  bool is_code = false;  // names, operators or source code, in a fixed-width font
  // The nodes that follow the value as links, or the first of them if there are many.
  std::vector<NodeId> links = {};
  // All nodes if `links` contains only the first ones; otherwise empty.
  std::vector<NodeId> all_links = {};
};

struct InspectorSection {
  QString title;
  std::vector<InspectorRow> rows;

  void add(const QString& label, const QString& value, Provenance provenance = Provenance::captured,
           const QString& note = {}) {
    rows.push_back({.label = label, .value = value, .provenance = provenance, .note = note});
  }
  // Adds a row whose value is code (`is_code`).
  void add_code(const QString& label, const QString& value,
                Provenance provenance = Provenance::captured, const QString& note = {}) {
    add(label, value, provenance, note);
    rows.back().is_code = true;
  }
};

// A source line from the stack trace of the node.
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

}  // namespace jointer::views
