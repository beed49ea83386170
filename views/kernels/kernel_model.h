#pragma once

#include <vector>

#include "views/session/kernels/snapshot_kernels.h"
#include "views/tables/table_model.h"

namespace jointer::views {

// One row per kernel, in the order in which the kernels run, whatever their source. Rows that
// launch nothing are shown only on request. The filter also searches the names of the nodes that
// run in a kernel.
class KernelModel : public TableModel {
  Q_OBJECT
 public:
  enum ColumnIndex : int {
    name_column,
    number_column,
    kind_column,
    phase_column,
    nodes_column,
    read_column,
    written_column,
    time_column,
    share_column,
    roofline_column,
    above_roofline_column,
    rate_column,
    bound_column,
  };

  explicit KernelModel(QObject* parent = nullptr);

  // Null removes all rows.
  void set_kernels(SnapshotKernelsPtr shown);
  [[nodiscard]] const SnapshotKernelsPtr& kernels() const { return shown_; }
  // If true, also shows rows that launch nothing: views, waits, results of other kernels, no-ops,
  // and kernels on the CPU if the graph runs on a GPU.
  void set_show_all(bool shows_all);
  [[nodiscard]] bool shows_all() const { return shows_all_; }

  [[nodiscard]] std::optional<std::int64_t> number(int row, int column) const override;
  [[nodiscard]] QString text(int row, int column) const override;
  [[nodiscard]] QString note(int row, int column) const override;
  [[nodiscard]] std::uint64_t key(int row) const override {
    return keys_[static_cast<std::size_t>(row)];
  }
  [[nodiscard]] std::vector<NodeId> nodes(int row) const override;
  // The first kernel that launches and in which the node runs; if there is none, the first one in
  // which it runs; -1 if it runs in no kernel.
  [[nodiscard]] int row_of(NodeId node) const override {
    return shown_ ? shown_->row_of(node) : -1;
  }

 protected:
  [[nodiscard]] bool hides_rows() const override { return !shows_all_ || TableModel::hides_rows(); }
  [[nodiscard]] bool passes(int row, const QStringList& words) const override;

 private:
  [[nodiscard]] const kernels::Kernel& kernel(int row) const {
    return shown_->kernel(static_cast<std::size_t>(row));
  }
  [[nodiscard]] const KernelRow& figures(int row) const {
    return shown_->rows()[static_cast<std::size_t>(row)];
  }
  [[nodiscard]] const Graph& graph() const { return shown_->snapshot()->graph; }

  SnapshotKernelsPtr shown_;
  std::vector<std::uint64_t> keys_;
  bool shows_all_ = false;
};

}  // namespace jointer::views
