#pragma once

#include "views/session/open/open_graph.h"

namespace jointer::views {

// Selects a node and its moment, so that panes that show a moment show the node's. If the node does
// not run, they show the peak.
inline void go_to(OpenGraph& open, NodeId node) {
  open.selection().select(node);
  open.selection().set_moment(open.moment_of(node));
}

}  // namespace jointer::views
