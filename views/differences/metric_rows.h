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
};
MetricRow bytes_row(const QString& name, std::int64_t from, std::int64_t to);
MetricRow time_row(const QString& name, std::int64_t from, std::int64_t to);
MetricRow count_row(const QString& name, std::int64_t from, std::int64_t to);

// The metrics as an HTML table with the names of both states as column titles. Decreases have the
// color of improvements, and increases that of regressions.
QString metric_table_html(std::span<const MetricRow> rows, const QString& from, const QString& to,
                          const Theme& theme);

}  // namespace jointer::views
