#pragma once

// Helpers for rows in the inspector.

#include <algorithm>

#include "views/widgets/inspector_content.h"

namespace jointer::views {

namespace inspector {

inline constexpr std::size_t kMaxLinks = 12;

// A row with links to the first few of `nodes` and, if there are more, a link to all of them.
inline InspectorRow link_row(const QString& label, std::span<const NodeId> nodes) {
  InspectorRow row{.label = label, .is_code = true};
  row.links.assign(nodes.begin(),
                   nodes.begin() + static_cast<std::ptrdiff_t>(std::min(nodes.size(), kMaxLinks)));
  if (nodes.size() > kMaxLinks) row.all_links.assign(nodes.begin(), nodes.end());
  return row;
}

}  // namespace inspector
}  // namespace jointer::views
