#include "views/pipeline/report/pass_table_model.h"

#include <algorithm>
#include <cmath>

#include "views/session/text/node_text.h"
#include "views/session/text/number_text.h"

namespace jointer::views {
namespace {

constexpr int kNodeColumn = 0;
constexpr int kMaxWidth = 260;  // in pixels; passes may choose long titles

Unit unit_of(PassTable::Unit unit) {
  switch (unit) {
    case PassTable::Unit::text:
      return Unit::text;
    case PassTable::Unit::count:
      return Unit::count;
    case PassTable::Unit::bytes:
      return Unit::bytes;
    case PassTable::Unit::nanoseconds:
      return Unit::time;
    case PassTable::Unit::number:
      break;
  }
  return Unit::thousandths;
}

bool adds_up(PassTable::Unit unit) {
  return unit == PassTable::Unit::count || unit == PassTable::Unit::nanoseconds;
}

std::optional<std::int64_t> thousandths(double number) {
  constexpr double kMax = 9.0e15;
  const double scaled = std::round(number * 1000);
  if (!(std::abs(scaled) < kMax)) return std::nullopt;
  return static_cast<std::int64_t>(scaled);
}

}  // namespace

PassTableModel::PassTableModel(QObject* parent)
    : NamedRowsModel({tr("1 row"), tr("%1 rows"), tr("%1 of %2 rows")}, kNodeColumn, parent) {}

void PassTableModel::set(TablePtr table, const SnapshotPtr& shown) {
  begin_rows();
  table_ = std::move(table);
  std::vector<Column> columns{{.title = tr("node"), .meaning = tr("Node that the row describes.")}};
  rows_.clear();
  sums_.clear();
  std::vector<std::string> names;
  if (table_) {
    for (const PassTable::Column& column : table_->columns)
      columns.push_back({.title = to_qstring(column.name),
                         .unit = unit_of(column.unit),
                         .adds_up = adds_up(column.unit),
                         .total_title = to_qstring(column.name),
                         .max_width = kMaxWidth});
    const bool has_nodes = std::any_of(table_->rows.begin(), table_->rows.end(),
                                       [](const auto& row) { return !row.node.empty(); });
    for (const PassTable::Row& row : table_->rows) {
      if (has_nodes && row.node.empty()) {
        sums_.push_back(&row);
        continue;
      }
      rows_.push_back(&row);
      names.push_back(row.node);
    }
  }
  set_columns(std::move(columns));
  set_names(NamedRows(std::move(names)), shown);
  set_rows(std::vector<int>(rows_.size(), -1));
}

const PassTable::Cell* PassTableModel::cell(const PassTable::Row& row, int column) const {
  const auto index = static_cast<std::size_t>(column - 1);
  return column >= 1 && index < row.cells.size() ? &row.cells[index] : nullptr;
}

QString PassTableModel::summary() const {
  QStringList lines;
  for (const PassTable::Row* row : sums_) {
    QString name;
    QStringList parts;
    for (std::size_t c = 0; c < table_->columns.size(); ++c) {
      const PassTable::Cell* held = cell(*row, static_cast<int>(c) + 1);
      const PassTable::Column& column = table_->columns[c];
      const QString shown = held == nullptr ? QString() : to_qstring(cell_text(*held, column.unit));
      const bool is_text = column.unit == PassTable::Unit::text;
      if (shown.isEmpty()) continue;
      if (is_text && name.isEmpty())
        name = shown;
      else
        parts << QStringLiteral("%1 %2").arg(to_qstring(column.name),
                                             is_text ? shown : with_minus(shown));
    }
    lines << (name.isEmpty() ? QString() : name + QStringLiteral(": ")) +
                 parts.join(QStringLiteral(" · "));
  }
  return lines.join(u'\n');
}

std::optional<std::int64_t> PassTableModel::number(int row, int column) const {
  const PassTable::Cell* held = cell(at(row), column);
  if (held == nullptr || columns()[static_cast<std::size_t>(column)].unit == Unit::text)
    return std::nullopt;
  const bool is_number = columns()[static_cast<std::size_t>(column)].unit == Unit::thousandths;
  if (const auto* whole = std::get_if<std::int64_t>(held))
    return is_number ? thousandths(static_cast<double>(*whole)) : std::optional(*whole);
  if (const auto* real = std::get_if<double>(held)) {
    const auto scaled = thousandths(*real);
    return is_number || !scaled ? scaled : std::optional(*scaled / 1000);
  }
  return std::nullopt;
}

QString PassTableModel::text(int row, int column) const {
  if (column == kNodeColumn) return to_qstring(at(row).node);
  const PassTable::Cell* held = cell(at(row), column);
  return held == nullptr ? QString() : to_qstring(cell_text(*held, PassTable::Unit::text));
}

}  // namespace jointer::views
