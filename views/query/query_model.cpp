#include "views/query/query_model.h"

#include <algorithm>
#include <cmath>

namespace jointer::views {
namespace {

constexpr double kPerThousandth = 1000;

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

// A column is numeric if it has numbers and no text.
Column QueryModel::column_of(std::size_t index) const {
  Column column{.title = QString::fromStdString(result_.columns[index])};
  bool has_integers = false, has_reals = false;
  for (const auto& row : result_.rows) {
    if (std::holds_alternative<std::string>(row[index])) return column;
    has_integers = has_integers || std::holds_alternative<std::int64_t>(row[index]);
    has_reals = has_reals || std::holds_alternative<double>(row[index]);
  }
  if (!has_integers && !has_reals) return column;
  const Unit unit = unit_of(column.title);
  column.unit = has_reals && unit == Unit::count ? Unit::thousandths : unit;
  column.adds_up = unit != Unit::count;
  column.total_title = column.title;
  return column;
}

std::optional<std::int64_t> QueryModel::number(int row, int column) const {
  const QueryValue& v = value(row, column);
  const bool is_scaled = columns()[static_cast<std::size_t>(column)].unit == Unit::thousandths;
  if (const auto* number = std::get_if<std::int64_t>(&v))
    return is_scaled ? *number * static_cast<std::int64_t>(kPerThousandth) : *number;
  if (const auto* number = std::get_if<double>(&v); number != nullptr && std::isfinite(*number))
    return std::llround(*number * (is_scaled ? kPerThousandth : 1));
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
