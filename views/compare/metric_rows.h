#pragma once

// Figures of two states beside each other, as text and as a table.

#include <QString>
#include <span>
#include <vector>

#include "views/theme/theme.h"

namespace jointer::views {

struct MetricRow {
  QString name, from, to, difference, share;
  std::int64_t change = 0;  // above 0: more than before
};
MetricRow bytes_row(const QString& name, std::int64_t from, std::int64_t to);
MetricRow time_row(const QString& name, std::int64_t from, std::int64_t to);
MetricRow count_row(const QString& name, std::int64_t from, std::int64_t to);

// As HTML, with what both states are called; the difference in the colour of better or worse.
QString metric_table_html(std::span<const MetricRow> rows, const QString& from, const QString& to,
                          const Theme& theme);

}  // namespace jointer::views
