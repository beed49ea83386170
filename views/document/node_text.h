#pragma once

#include <QString>
#include <QStringList>

#include "views/document/snapshot.h"

namespace jointer::views {

// How nodes are put in words, alike in every pane.

inline QString to_qstring(std::string_view text) {
  return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

// "bf16[8192, 7168]"
QString tensor_text(const Graph& graph, const Tensor& tensor);
// Everything a node returns: one tensor, "3 tensors, 1.2 GiB", or a number.
QString value_text(const Graph& graph, const Node& node);
QString phase_text(const Node& node);
QString policy_text(MemoryPolicy policy);
QString role_text(Role role);
// "lives 2,310 .. 9,870", of the storage a node returns; empty if it holds no memory of its own.
QString lifetime_text(const Snapshot& snapshot, NodeId node);
// What a pointer over the node shows: a title and some lines.
QStringList hover_lines(const Snapshot& snapshot, NodeId node);

}  // namespace jointer::views
