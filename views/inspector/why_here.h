#pragma once

// Why a node is where and what it is: what the edits of a document say about it.

#include <QString>
#include <vector>

#include "views/edit/edit_line.h"
#include "views/inspector/inspector_content.h"

namespace jointer::views {

// What one edit says of a node: a decision of a pass, or that it names the node and gives no
// reason.
struct EditReason {
  std::size_t edit = 0;  // which of the line, from 1
  QString by;            // the pass; empty: a person
  QString action;        // "moved"; of a person what was done, in a line
  QString reason, effect;
  QString about;  // the node that it is said of, where that is the one this node was made from
};

// Newest first. Cost: the names in the edits. `graph`: what the line leads to.
std::vector<EditReason> reasons_for(const EditLine& line, const Graph& graph, NodeId node);

// As a part of the inspector's page; where there is no reason it says that no edit names the node.
InspectorSection why_section(const std::vector<EditReason>& reasons);
QString why_title();

}  // namespace jointer::views
