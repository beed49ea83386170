#include "views/tables/table_export.h"

#include "core/base/bytes.h"
#include "core/base/cells.h"

namespace jointer::views {
namespace {

void add_shown(const TableModel& model, int parent, std::vector<int>& rows) {
  for (const int row : model.shown(parent)) {
    rows.push_back(row);
    add_shown(model, row, rows);
  }
}

}  // namespace

std::vector<int> shown_rows(const TableModel& model) {
  std::vector<int> rows;
  add_shown(model, -1, rows);
  return rows;
}

QString table_csv(const TableModel& model, std::span<const int> rows) {
  const std::vector<Column>& columns = model.columns();
  QString out;
  const auto add = [&](std::size_t column, const QString& text) {
    if (column > 0) out += u',';
    out += QString::fromStdString(csv_cell(text.toStdString()));
    if (column + 1 == columns.size()) out += QStringLiteral("\r\n");
  };
  for (std::size_t c = 0; c < columns.size(); ++c) add(c, raw_title(columns[c]));
  for (const int row : rows)
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const auto column = static_cast<int>(c);
      add(c, columns[c].unit == Unit::text ? model.text(row, column)
                                           : raw_text(columns[c], model.number(row, column)));
    }
  return out;
}

Result<void> write_table(const TableModel& model, const QString& path) {
  const std::vector<int> rows = shown_rows(model);
  const bool is_csv = path.endsWith(QStringLiteral(".csv"), Qt::CaseInsensitive);
  const QString text = is_csv ? table_csv(model, rows) : model.tsv(rows);
  return write_bytes(path.toStdString(), text.toStdString());
}

}  // namespace jointer::views
