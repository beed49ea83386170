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
  QString out;
  const auto add_line = [&](auto cell) {
    for (int column = 0; column < model.columnCount(); ++column)
      out += (column == 0 ? QString() : QStringLiteral(",")) +
             QString::fromStdString(csv_cell(cell(column).toStdString()));
    out += QStringLiteral("\r\n");
  };
  add_line([&](int column) { return model.exported_title(column); });
  for (const int row : rows) add_line([&](int column) { return model.exported(row, column); });
  return out;
}

Result<void> write_table(const TableModel& model, const QString& path) {
  const std::vector<int> rows = shown_rows(model);
  const bool is_csv = path.endsWith(QStringLiteral(".csv"), Qt::CaseInsensitive);
  const QString text = is_csv ? table_csv(model, rows) : model.tsv(rows);
  return write_bytes(path.toStdString(), text.toStdString());
}

}  // namespace jointer::views
