#include "views/window/symbol_model.h"

#include <QFont>

#include "views/session/text/node_text.h"
#include "views/theme/fonts.h"

namespace jointer::views {

SymbolModel::SymbolModel(const Graph& graph, Assumptions before, QObject* parent)
    : QAbstractTableModel(parent), symbols_(graph.symbols()), before_(std::move(before)) {}

Assumptions SymbolModel::assumptions() const {
  Assumptions result = before_;
  for (const auto& [row, value] : edited_)
    result.named.insert_or_assign(symbols_[static_cast<std::size_t>(row)].name, value);
  return result;
}

int SymbolModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(symbols_.size());
}

int SymbolModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : kColumns;
}

QVariant SymbolModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const SymbolValue& symbol = symbols_[static_cast<std::size_t>(index.row())];
  const auto edited = edited_.find(index.row());
  if (role == Qt::TextAlignmentRole && index.column() == value_column)
    return static_cast<int>(Qt::AlignRight | Qt::AlignVCenter);
  if (role == Qt::FontRole && edited != edited_.end()) return bold_font({});
  if (role != Qt::DisplayRole && role != Qt::EditRole) return {};
  switch (index.column()) {
    case name_column:
      return to_qstring(symbol.name);
    case value_column:
      return static_cast<qlonglong>(edited == edited_.end() ? symbol.value : edited->second);
    default:
      return edited == edited_.end() ? to_qstring(to_string(symbol.source)) : tr("given");
  }
}

QVariant SymbolModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) return {};
  if (role == Qt::InitialSortOrderRole)  // the first click shows the largest numbers
    return static_cast<int>(section == value_column ? Qt::DescendingOrder : Qt::AscendingOrder);
  if (role != Qt::DisplayRole) return {};
  switch (section) {
    case name_column:
      return tr("symbol");
    case value_column:
      return tr("value");
    default:
      return tr("source");
  }
}

Qt::ItemFlags SymbolModel::flags(const QModelIndex& index) const {
  Qt::ItemFlags flags = QAbstractTableModel::flags(index);
  if (index.column() == value_column) flags |= Qt::ItemIsEditable;
  return flags;
}

bool SymbolModel::setData(const QModelIndex& index, const QVariant& value, int role) {
  bool is_number = false;
  const qlonglong number = value.toLongLong(&is_number);
  if (role != Qt::EditRole || !is_number || number < 0) return false;
  edited_[index.row()] = number;
  emit dataChanged(index.siblingAtColumn(name_column), index.siblingAtColumn(source_column));
  return true;
}

}  // namespace jointer::views
