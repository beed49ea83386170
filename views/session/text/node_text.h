#pragma once

#include <QString>
#include <QStringList>

#include "views/session/snapshot/snapshot.h"
#include "views/session/translation/qstring.h"

namespace jointer::views {

// Text for nodes, the same in every pane.

// "bf16[8192, 7168]"
QString tensor_text(const Graph& graph, const Tensor& tensor);
// The outputs of a node: one tensor, "3 tensors, 1.20 GiB", or a symbolic size, "s0 = 8192". Empty
// if there are none.
QString value_text(const Graph& graph, const Node& node);
QString phase_text(const Node& node);
QString policy_text(MemoryPolicy policy);
QString role_text(Role role);
// The resource that limits a time, such as "memory"; empty if it is unknown, for example because
// the time was measured.
QString limit_text(NodeCost::Limit limit);
// Hover text of a node: a title, then details.
QStringList hover_lines(const Snapshot& snapshot, NodeId node);

}  // namespace jointer::views
