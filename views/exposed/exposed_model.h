#pragma once

#include <functional>
#include <vector>

#include "views/session/edit/fix_search.h"
#include "views/session/snapshot/module_locations.h"
#include "views/session/snapshot/snapshot.h"
#include "views/tables/table_model.h"

namespace jointer::views {

// One row for each collective, or copy to or from the host, in program order. Rows without exposed
// time are shown only on request. Exposed times add up to that of the training step, because the
// simulation assigns each moment to one collective: a stall of the compute stream to the collective
// that the stream waits for, even if others run at the same time, and time after the last kernel to
// the collective that ends next.
class ExposedModel : public TableModel {
  Q_OBJECT
 public:
  enum ColumnIndex : int {
    name_column,
    exposed_column,
    share_column,
    alone_column,  // the first of two columns per FixKind: time gained, change in peak
    alone_peak_column,
    chains_column,
    chains_peak_column,
    layers_column,
    layers_peak_column,
    why_column,
    time_column,
    bytes_column,
    kind_column,
    group_column,
    module_column,
    phase_column,
  };

  explicit ExposedModel(QObject* parent = nullptr);

  // Sets the snapshot and forgets all fixes.
  void set_snapshot(SnapshotPtr snapshot);
  // Shows or hides the rows of hidden collectives.
  void set_show_hidden(bool shown);
  // Sets the fixes of a collective, and sorts the rows again if they are sorted by a column of
  // fixes. Does nothing if the collective has no row.
  void set_fixes(NodeId start, CollectiveFixesPtr fixes);
  // Like set_fixes, for all rows. `find` returns null for starts whose fixes are not known.
  void set_all_fixes(const std::function<CollectiveFixesPtr(NodeId start)>& find);

  // The number of collectives and copies in the graph, including those without rows.
  [[nodiscard]] std::size_t collective_count() const {
    return snapshot_ ? snapshot_->analysis.simulation.collectives().size() : 0;
  }
  [[nodiscard]] const CollectiveTiming& collective(int row) const;
  // Null until the fixes are known.
  [[nodiscard]] const CollectiveFixesPtr& fixes(int row) const {
    return fixes_[static_cast<std::size_t>(row)];
  }
  [[nodiscard]] const SnapshotPtr& snapshot() const { return snapshot_; }

  [[nodiscard]] std::optional<std::int64_t> number(int row, int column) const override;
  [[nodiscard]] QString text(int row, int column) const override;
  [[nodiscard]] QString note(int row, int column) const override;
  [[nodiscard]] std::uint64_t key(int row) const override { return collective(row).start.value(); }
  [[nodiscard]] std::vector<NodeId> nodes(int row) const override;
  [[nodiscard]] int row_of(NodeId node) const override;
  // Cells of fixes show "…" until the fixes are known; changes in peak have a sign.
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;

 private:
  void make_rows();
  void sort_by_fixes();
  [[nodiscard]] QString fix_text(int row, int column) const;

  SnapshotPtr snapshot_;
  ModuleLocations places_;
  std::vector<std::size_t> rows_;          // indices of collectives in the simulation
  std::vector<int> row_by_collective_;     // -1 for collectives without a row
  std::vector<CollectiveFixesPtr> fixes_;  // indexed by row
  bool shows_hidden_ = false;
};

}  // namespace jointer::views
