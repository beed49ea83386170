#pragma once

// Words and rows that the inspector's texts are made of.

#include <QCoreApplication>
#include <algorithm>
#include <concepts>

#include "core/base/units.h"
#include "views/inspector/inspector_content.h"

namespace jointer::views {

namespace inspector {

inline constexpr std::size_t kMostLinks = 12;

inline QString words(const char* text) {
  return QCoreApplication::translate("Inspector", text);
}

inline QString bytes_text(std::int64_t bytes) {
  return QString::fromStdString(format_bytes(bytes));
}

inline QString exact_bytes(std::int64_t bytes) {
  return words("%1 bytes").arg(QString::fromStdString(format_count(bytes)));
}

inline QString time_text(std::int64_t ns) {
  return QString::fromStdString(format_ms(static_cast<double>(ns) / 1e6));
}

inline QString flops_text(std::int64_t flops) {
  return QString::fromStdString(format_flops(static_cast<double>(flops)));
}

QString count_text(std::integral auto count) {
  return QString::fromStdString(format_count(static_cast<std::int64_t>(count)));
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
