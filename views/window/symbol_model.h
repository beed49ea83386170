#pragma once

#include <QAbstractTableModel>
#include <map>

#include "core/graph/graph.h"

namespace jointer::views {

// The symbols of a graph, their values, and the source of each value. Editing a value makes it an
// assumption. The model applies nothing; `assumptions` returns the earlier assumptions with the
// edited values.
class SymbolModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  enum Column : int { name_column, value_column, source_column, kColumns };

  // `before`: the assumptions that edited values are added to, which the graph may not show yet.
  SymbolModel(const Graph& graph, Assumptions before, QObject* parent = nullptr);

  [[nodiscard]] Assumptions assumptions() const;

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation,
                                    int role) const override;
  [[nodiscard]] Qt::ItemFlags flags(const QModelIndex& index) const override;
  bool setData(const QModelIndex& index, const QVariant& value, int role) override;

 private:
  std::vector<SymbolValue> symbols_;
  Assumptions before_;
  std::map<int, std::int64_t> edited_;  // by row
};

}  // namespace jointer::views
