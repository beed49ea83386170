#pragma once

#include <optional>

#include "views/session/snapshot/module_locations.h"
#include "views/session/snapshot/range_figures.h"
#include "views/session/snapshot/snapshot.h"
#include "views/tables/table_model.h"
#include "views/theme/theme.h"

namespace jointer::views {

// One row for each storage that is live at a point in the memory profile, largest first and
// optionally grouped. The bytes of the storages add up to the profile's value. If a range is set,
// the rows are instead the storages that are live at any time in it, and a column says whether they
// are allocated or freed in it.
//
// The storages are sorted only once per snapshot. Changing the point scans all storages once and,
// if they are grouped, scans the shown ones again. Text is created on demand.
class AliveModel : public TableModel {
  Q_OBJECT
 public:
  // `change` groups storages by whether they are allocated or freed in the range.
  enum class Grouping : std::uint8_t { none, module, category, change };
  enum ColumnIndex : int {
    name_column,
    bytes_column,
    share_column,
    category_column,
    tensor_column,
    module_column,
    from_column,
    to_column,
    why_column,
    change_column,  // empty without a range
  };

  explicit AliveModel(QObject* parent = nullptr);

  // `moment` is a point in the memory profile.
  void set_snapshot(SnapshotPtr snapshot, std::size_t moment, RangeFiguresPtr figures = {});
  void set_moment(std::size_t moment);
  // If `figures` is null, the rows are the storages that are live at moment().
  void set_figures(RangeFiguresPtr figures);
  void set_grouping(Grouping grouping);
  // Sets the theme, which determines the colors of categories.
  void set_theme(const Theme& theme);

  [[nodiscard]] std::size_t moment() const { return moment_; }
  // For example, "At the peak, in mm_214 (call 4,120): 41.2 GiB in 812 storages". With a range,
  // says how much memory is allocated and freed in it, and how much is live at its start and end.
  [[nodiscard]] QString sentence() const;

  [[nodiscard]] std::optional<std::int64_t> number(int row, int column) const override;
  [[nodiscard]] QString text(int row, int column) const override;
  [[nodiscard]] QString note(int row, int column) const override;
  [[nodiscard]] QVariant decoration(int row, int column) const override;
  [[nodiscard]] std::uint64_t key(int row) const override;
  [[nodiscard]] std::vector<NodeId> nodes(int row) const override;
  [[nodiscard]] int row_of(NodeId node) const override;
  [[nodiscard]] std::size_t things(int row) const override;

 private:
  // A storage or a group of storages.
  struct Row {
    int lifetime = -1;  // -1 for a group
    int group = -1;     // index in places_, a MemoryCategory or a RangeChange; -1 for a storage
    std::int64_t bytes = 0;
    int count = 1;
  };

  void find_returned();
  void make_rows();
  [[nodiscard]] bool is_shown(const Lifetime& lifetime) const;
  [[nodiscard]] std::size_t group_count() const;
  [[nodiscard]] int group_of(const Lifetime& lifetime) const;
  [[nodiscard]] QString range_sentence() const;
  [[nodiscard]] const Lifetime& lifetime(const Row& row) const {
    return snapshot_->analysis.memory.lifetimes()[static_cast<std::size_t>(row.lifetime)];
  }
  [[nodiscard]] QString group_name(const Row& row) const;
  // True for a copy that the communication library makes.
  [[nodiscard]] bool is_copy_by_library(const Lifetime& lifetime) const;
  // For a lifetime that lasts to the end of the step: true if the graph returns the value.
  [[nodiscard]] bool is_returned(const Lifetime& lifetime) const;
  [[nodiscard]] QString name_of(const Lifetime& lifetime) const;
  [[nodiscard]] QString why(const Lifetime& lifetime) const;
  [[nodiscard]] QString tensor_of(const Lifetime& lifetime) const;

  SnapshotPtr snapshot_;
  ModuleLocations places_;
  std::vector<int> top_places_;        // indexed by place
  std::vector<std::int32_t> by_size_;  // indices of lifetimes, largest first
  std::vector<StorageId> returned_;    // storages of outputs of the graph, sorted
  std::vector<int> row_by_lifetime_;   // -1 if the lifetime is not shown
  std::vector<Row> rows_;
  std::size_t moment_ = 0, alive_count_ = 0;
  RangeFiguresPtr figures_;  // of the range; null without one
  Grouping grouping_ = Grouping::none;
  const Theme* theme_ = &Theme::light_theme();
};

}  // namespace jointer::views
