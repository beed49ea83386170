#pragma once

// Tables for other programs.

#include <QString>
#include <span>
#include <vector>

#include "core/base/result.h"
#include "views/tables/table_model.h"

namespace jointer::views {

// What the filter shows, in the order of the sorting; a row's children come after it.
std::vector<int> shown_rows(const TableModel& model);

// As TableModel::tsv, by RFC 4180.
QString table_csv(const TableModel& model, std::span<const int> rows);

// What is shown, as comma-separated values where the name ends so, else as tab-separated ones.
// Error (run): it could not be written.
Result<void> write_table(const TableModel& model, const QString& path);

}  // namespace jointer::views
