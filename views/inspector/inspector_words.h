#pragma once

// Words and rows that the inspector's texts are made of.

#include <QCoreApplication>
#include <algorithm>

#include "views/document/number_text.h"
#include "views/inspector/inspector_content.h"

namespace jointer::views {

namespace inspector {

inline constexpr std::size_t kMostLinks = 12;

inline QString words(const char* text) {
  return QCoreApplication::translate("Inspector", text);
}

inline QString exact_bytes(std::int64_t bytes) {
  return words("%1 bytes").arg(count_text(bytes));
}

// A row of links: the first ones of `nodes`, and all of them behind one more.
inline InspectorRow link_row(const QString& label, std::span<const NodeId> nodes) {
  InspectorRow row{.label = label, .is_code = true};
  row.links.assign(nodes.begin(),
                   nodes.begin() + static_cast<std::ptrdiff_t>(std::min(nodes.size(), kMostLinks)));
  if (nodes.size() > kMostLinks) row.all_links.assign(nodes.begin(), nodes.end());
  return row;
}

}  // namespace inspector
}  // namespace jointer::views
