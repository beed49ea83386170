#pragma once

// Answers to the questions that a new user asks of any graph, from its own numbers.

#include <QString>

#include "views/session/snapshot/snapshot.h"

namespace jointer::views {

struct FirstAnswer {
  QString text;
  NodeId node;  // the node that the answer is about; none if there is no such node
};

// Why is the peak there? The node is that of the largest live tensor.
FirstAnswer answer_peak(const Snapshot& snapshot);
// Which communication costs the most? The node is the start of that collective.
FirstAnswer answer_communication(const Snapshot& snapshot);
// What would a change do? The node is a collective that can be moved to find out.
FirstAnswer answer_what_if(const Snapshot& snapshot);

}  // namespace jointer::views
