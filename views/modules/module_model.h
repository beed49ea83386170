#pragma once

#include <optional>

#include "views/session/sac/sac_state.h"
#include "views/session/snapshot/module_locations.h"
#include "views/session/snapshot/range_figures.h"
#include "views/session/snapshot/snapshot.h"
#include "views/tables/table_model.h"

namespace jointer::views {

// The module tree with totals per subtree. Adjacent identical elements of a list, such as
// `layers.0..31`, are grouped under one row. Identical elements call the same operators, with
// outputs of the same shapes and dtypes, in corresponding submodules and phases, in any order. In a
// range, only calls that run in it count, and a call that the range cuts differs from a whole one.
class ModuleModel : public TableModel {
  Q_OBJECT
 public:
  enum ColumnIndex : int {
    name_column,
    type_column,
    nodes_column,
    parameters_column,
    saved_column,
    forward_column,
    backward_column,
    flops_column,
  };

  explicit ModuleModel(QObject* parent = nullptr);

  // If `figures` is given, shows only modules with nodes that run in its range, and their time in
  // it. If `saved` is given, a plan saves these values, and no others, for backward.
  void set_snapshot(SnapshotPtr snapshot, RangeFiguresPtr figures = {},
                    const std::optional<SavedValues>& saved = {});
  // True if the capture has no module names, so that rows are source lines.
  [[nodiscard]] bool shows_source_lines() const { return places_.are_source_lines(); }

  [[nodiscard]] std::optional<std::int64_t> number(int row, int column) const override;
  [[nodiscard]] QString text(int row, int column) const override;
  [[nodiscard]] QString note(int row, int column) const override;
  [[nodiscard]] std::uint64_t key(int row) const override;
  [[nodiscard]] std::vector<NodeId> nodes(int row) const override;
  [[nodiscard]] int row_of(NodeId node) const override;
  [[nodiscard]] std::size_t things(int row) const override;

 private:
  struct Sums {
    std::int64_t nodes = 0, parameter_bytes = 0, saved_bytes = 0;
    std::int64_t forward_ns = 0, backward_ns = 0, flops = 0;

    Sums& operator+=(const Sums& other);
  };
  struct Row {
    int place = -1;  // the first member, for a group
    int members = 1;
    Sums sums;
  };

  [[nodiscard]] Counted counted() const;
  void sum_up(const std::optional<SavedValues>& saved);
  [[nodiscard]] std::vector<std::uint64_t> signatures() const;
  void make_rows();
  [[nodiscard]] const ModuleLocation& place(const Row& row) const {
    return places_.all()[static_cast<std::size_t>(row.place)];
  }

  SnapshotPtr snapshot_;
  RangeFiguresPtr figures_;  // not null once there is a snapshot
  ModuleLocations places_;
  std::vector<Sums> sums_;  // by place, including its descendants
  std::vector<Row> rows_;
  std::vector<int> row_by_place_;
};

}  // namespace jointer::views
