#include "views/query/query_model.h"

#include <algorithm>
#include <cmath>

#include "core/base/checked.h"

namespace jointer::views {
namespace {

constexpr double kPerThousandth = 1000;
constexpr double kTooLarge = 0x1p62;  // fits into 64 bits, with space for rounding

Unit unit_of(const QString& title) {
  const auto is = [&title](const char* name) {
    return title.compare(QLatin1String(name), Qt::CaseInsensitive) == 0 ||
           title.endsWith(QLatin1Char('_') + QLatin1String(name), Qt::CaseInsensitive);
  };
  if (is("ns")) return Unit::time;
  if (is("bytes")) return Unit::bytes;
  if (is("flops")) return Unit::flops;
  return Unit::count;
}

int find_column(const QueryResult& result, std::string_view name) {
  const auto at = std::ranges::find(result.columns, name);
  return at == result.columns.end() ? -1 : static_cast<int>(at - result.columns.begin());
}

}  // namespace

void QueryModel::set_result(QueryResult result, SnapshotPtr snapshot) {
  begin_rows();
  result_ = std::move(result);
  snapshot_ = std::move(snapshot);
  std::vector<Column> columns;
  for (std::size_t c = 0; c < result_.columns.size(); ++c) columns.push_back(column_of(c));
  set_columns(std::move(columns));
  id_column_ = find_column(result_, "node_id");
  name_column_ = find_column(result_, "node");
  set_rows(std::vector<int>(result_.rows.size(), -1));
}

// A column is numeric if it has numbers and no text, unless a number is too large for `number`.
Column QueryModel::column_of(std::size_t index) const {
  Column column{.title = QString::fromStdString(result_.columns[index])};
  bool has_integers = false, has_reals = false;
  double largest_integer = 0, largest_real = 0;  // magnitudes
  for (const auto& row : result_.rows) {
    if (std::holds_alternative<std::string>(row[index])) return column;
    if (const auto* integer = std::get_if<std::int64_t>(&row[index])) {
      has_integers = true;
      largest_integer = std::max(largest_integer, std::abs(static_cast<double>(*integer)));
    }
    if (const auto* real = std::get_if<double>(&row[index])) {
      has_reals = true;
      if (std::isfinite(*real)) largest_real = std::max(largest_real, std::abs(*real));
    }
  }
  if (!has_integers && !has_reals) return column;
  const Unit unit = unit_of(column.title);
  const bool is_scaled = has_reals && unit == Unit::count;
  if (is_scaled && std::max(largest_integer, largest_real) >= kTooLarge / kPerThousandth)
    return column;
  if (largest_real >= kTooLarge) return column;
  column.unit = is_scaled ? Unit::thousandths : unit;
  column.adds_up = unit != Unit::count;
  column.total_title = column.title;
  return column;
}

std::optional<std::int64_t> QueryModel::number(int row, int column) const {
  const QueryValue& v = value(row, column);
  const bool is_scaled = columns()[static_cast<std::size_t>(column)].unit == Unit::thousandths;
  if (const auto* number = std::get_if<std::int64_t>(&v))
    return is_scaled ? saturating_mul(*number, static_cast<std::int64_t>(kPerThousandth)) : *number;
  if (const auto* number = std::get_if<double>(&v); number != nullptr && std::isfinite(*number))
    return saturating_round(*number * (is_scaled ? kPerThousandth : 1));
  return std::nullopt;
}

QString QueryModel::text(int row, int column) const {
  if (columns()[static_cast<std::size_t>(column)].unit != Unit::text) return {};
  return exported(row, column);
}

QString QueryModel::exported(int row, int column) const {
  const QueryValue& v = value(row, column);
  if (const auto* number = std::get_if<std::int64_t>(&v)) return QString::number(*number);
  if (const auto* number = std::get_if<double>(&v)) return QString::number(*number, 'g', 15);
  if (const auto* text = std::get_if<std::string>(&v)) return QString::fromStdString(*text);
  return {};
}

NodeId QueryModel::node_of(int row) const {
  const Graph& graph = snapshot_->graph;
  if (id_column_ >= 0) {
    const auto* id = std::get_if<std::int64_t>(&value(row, id_column_));
    if (id == nullptr || *id < 0 || *id >= static_cast<std::int64_t>(graph.node_count())) return {};
    const NodeId node(static_cast<std::size_t>(*id));
    return graph.is_live(node) ? node : NodeId();
  }
  if (name_column_ < 0) return {};
  const auto* name = std::get_if<std::string>(&value(row, name_column_));
  return name == nullptr ? NodeId() : graph.find(*name);
}

std::vector<NodeId> QueryModel::nodes(int row) const {
  const NodeId node = node_of(row);
  return node ? std::vector{node} : std::vector<NodeId>();
}

int QueryModel::row_of(NodeId node) const {
  if (id_column_ < 0 && name_column_ < 0) return -1;
  for (int row = 0; row < row_count(); ++row)
    if (node_of(row) == node) return row;
  return -1;
}

}  // namespace jointer::views
