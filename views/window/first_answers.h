#pragma once

// Answers to a new user's questions about a graph, based on the graph's own numbers.

#include <QString>

#include "views/session/snapshot/snapshot.h"

namespace jointer::views {

struct FirstAnswer {
  QString text;
  NodeId node;  // the node that the answer is about; invalid if there is none
};

// Answers why memory peaks where it does. `node` produces the largest tensor that is live at the
// peak; it is invalid if no node produces that tensor.
FirstAnswer answer_peak(const Snapshot& snapshot);
// Answers which communication costs the most. `node` starts that collective or copy; it is invalid
// if none is exposed.
FirstAnswer answer_communication(const Snapshot& snapshot);
// Answers what a change would do. `node` is the most exposed collective, which the user can move to
// find out; invalid if none is exposed, or if a copy is exposed for longer.
FirstAnswer answer_what_if(const Snapshot& snapshot);

}  // namespace jointer::views
