#pragma once

#include "views/session/snapshot/snapshot.h"
#include "views/tables/table_view.h"

namespace jointer::views {

// The nodes that a search has found, one per row, in program order.
class HitModel : public TableModel {
  Q_OBJECT
 public:
  enum ColumnIndex : int {
    name_column,
    operator_column,
    module_column,
    call_column,
    time_column,
    bytes_column
  };

  explicit HitModel(QObject* parent = nullptr);

  void set_nodes(SnapshotPtr snapshot, std::vector<NodeId> nodes);
  [[nodiscard]] bool shows(const SnapshotPtr& snapshot, const std::vector<NodeId>& nodes) const {
    return snapshot == snapshot_ && nodes == nodes_;
  }

  [[nodiscard]] std::optional<std::int64_t> number(int row, int column) const override;
  [[nodiscard]] QString text(int row, int column) const override;
  [[nodiscard]] std::uint64_t key(int row) const override {
    return nodes_[static_cast<std::size_t>(row)].value();
  }
  [[nodiscard]] std::vector<NodeId> nodes(int row) const override {
    return {nodes_[static_cast<std::size_t>(row)]};
  }
  [[nodiscard]] int row_of(NodeId node) const override;

 private:
  SnapshotPtr snapshot_;
  std::vector<NodeId> nodes_;
};

// A table of the nodes that a search has found. Selecting a row emits `node_chosen`.
class HitList : public TableView {
  Q_OBJECT
 public:
  explicit HitList(QWidget* parent = nullptr);

  void show_nodes(const SnapshotPtr& snapshot, const std::vector<NodeId>& nodes);
  [[nodiscard]] QSize sizeHint() const override;

 signals:
  void node_chosen(jointer::NodeId node);

 private:
  HitList(HitModel* model, QWidget* parent);

  HitModel* model_;
  bool is_fitted_ = false;
};

}  // namespace jointer::views
