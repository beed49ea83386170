#pragma once

#include <QString>
#include <span>
#include <vector>

#include "core/base/result.h"
#include "views/tables/table_model.h"

namespace jointer::views {

// The rows that the filter shows, in sort order. Each is followed by its children, even if it is
// collapsed.
std::vector<int> shown_rows(const TableModel& model);

// Like TableModel::tsv, but as CSV (RFC 4180).
QString table_csv(const TableModel& model, std::span<const int> rows);

// Writes the rows of `shown_rows` as comma-separated values if the path ends in .csv, otherwise as
// tab-separated values. Error (run): the file could not be written.
Result<void> write_table(const TableModel& model, const QString& path);

}  // namespace jointer::views
