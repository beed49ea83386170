#pragma once

// The values of a metric in two states, as text.

#include <QString>
#include <span>
#include <vector>

#include "views/theme/theme.h"

namespace jointer::views {

struct MetricRow {
  QString name, from, to, difference, share;
  std::int64_t change = 0;  // positive: an increase
  // The plan that the metric describes; empty for metrics of the graph itself.
  QString group = {};

  // The name with the group, such as "As partitioned: peak memory".
  [[nodiscard]] QString whole_name() const {
    return group.isEmpty() ? name : group + QStringLiteral(": ") + name;
  }
};
MetricRow bytes_row(const QString& name, std::int64_t from, std::int64_t to);
MetricRow time_row(const QString& name, std::int64_t from, std::int64_t to);
MetricRow count_row(const QString& name, std::int64_t from, std::int64_t to);

struct CollectiveCounts {
  std::size_t all = 0, hidden = 0;
};
// Counts exposed rather than hidden collectives, so that an increase is a regression, as in all
// rows.
MetricRow exposed_collectives_row(const CollectiveCounts& from, const CollectiveCounts& to);

// The metrics as an HTML table with the names of both states as column titles. If there are groups,
// each has a title, and `rest` is the title of the rows without a group. Decreases have the color
// of improvements, and increases that of regressions. Cells have a padding of `padding` pixels.
QString metric_table_html(std::span<const MetricRow> rows, const QString& from, const QString& to,
                          const Theme& theme, const QString& rest = {}, int padding = 3);

}  // namespace jointer::views
