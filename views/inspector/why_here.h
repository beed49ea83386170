#pragma once

// Explains from the document's edits why a node exists and why it has its position.

#include <QString>
#include <vector>

#include "views/session/edit/edit_history.h"
#include "views/widgets/inspector_content.h"

namespace jointer::views {

// The reason that an edit gives for the state of a node: a decision of a pass, or just that the
// edit changed the node.
struct EditReason {
  std::size_t edit = 0;  // index in the history, from 1
  QString by;            // the pass or the search; empty for the user
  QString action;        // such as "moved"; the edit's title if no pass made the edit
  QString reason, effect;
  QString about;  // the name of the node's origin if the reason is about the origin; else empty
};

// The reasons, newest first. `graph` is the result of the history. Cost: linear in the number of
// names in the edits.
std::vector<EditReason> reasons_for(const EditHistory& history, const Graph& graph, NodeId node);

// The reasons as a section of the inspector's page. If there are none, the section says that no
// edit affected the node.
InspectorSection why_section(const std::vector<EditReason>& reasons);
QString why_title();

}  // namespace jointer::views
