#pragma once

// Answers to a new user's questions about a graph, based on the graph's own numbers.

#include <QString>

#include "views/session/snapshot/snapshot.h"

namespace jointer::views {

struct FirstAnswer {
  QString text;
  NodeId node;  // the node that the answer is about; none if there is no such node
};

// Why is the peak there? The node is the producer of the largest tensor that is live at the peak.
FirstAnswer answer_peak(const Snapshot& snapshot);
// Which communication costs the most? The node is the start of that collective.
FirstAnswer answer_communication(const Snapshot& snapshot);
// What would a change do? The node is a collective that can be moved to find out.
FirstAnswer answer_what_if(const Snapshot& snapshot);

}  // namespace jointer::views
