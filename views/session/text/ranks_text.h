#pragma once

#include <QString>
#include <QStringList>
#include <algorithm>
#include <optional>

#include "core/graph/group_argument.h"
#include "views/session/translation/tr.h"

namespace jointer::views {

// The number of ranks in a collective's group and, if known, up to 16 of them: "4 (0, 8, 16, 24)".
// If only an assumption gives the number: "16 (assumed)".
inline QString ranks_text(const Graph& graph, const Node& start) {
  if (!start.group || graph.group(start.group).ranks.empty()) {
    const std::optional<std::int64_t> size = known_group_size(graph, start);
    if (size) return QString::number(*size);
    const std::optional<std::int64_t> assumed = assumed_ranks(graph, start.group);
    return assumed ? tr("%1 (assumed)").arg(*assumed) : tr("unknown");
  }
  const auto& ranks = graph.group(start.group).ranks;
  constexpr std::size_t kMax = 16;
  QStringList shown;
  for (std::size_t i = 0; i < std::min(ranks.size(), kMax); ++i) shown << QString::number(ranks[i]);
  if (ranks.size() > kMax) shown << QStringLiteral("…");
  return QStringLiteral("%1 (%2)").arg(ranks.size()).arg(shown.join(QStringLiteral(", ")));
}

}  // namespace jointer::views
