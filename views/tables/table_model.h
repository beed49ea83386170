#pragma once

#include <QAbstractItemModel>
#include <optional>
#include <span>
#include <vector>

#include "core/base/id.h"
#include "views/tables/column.h"

namespace jointer::views {

// Base class of tables and trees with up to 10^5 rows.
//
// A row is a number in [0, row_count). Rows form a forest; in a plain table all rows are roots.
// Cell contents are requested only when rows are shown, filtered, sorted, added up or exported.
// Sorting compares raw values and is stable: rows with equal values keep their original order. A
// filter shows the rows with texts that contain all of its words, and their ancestors and
// descendants.
//
// A derived class sets the columns, defines the cells, and calls begin_rows and set_rows when its
// rows change. This resets the model; TableView restores its state by row keys.
class TableModel : public QAbstractItemModel {
  Q_OBJECT
 public:
  enum DataRole : int {
    raw_role = Qt::UserRole,  // qlonglong for numbers, QString for texts
    bar_role,                 // double from 0 to 1, for columns that are shares
    alarm_role,               // bool: the row shows an error
  };

  // The totals of a set of rows.
  struct Totals {
    std::size_t things = 0;
    std::vector<std::optional<std::int64_t>> by_column;  // nullopt for columns without a total
  };

  // Texts for numbers of items, such as "1 operator" and "%1 operators".
  struct Counted {
    QString one, several;
    QString part = {};  // "%1 of %2 operators", for some of the rows; if empty, `several`
  };

  explicit TableModel(Counted counted, QObject* parent = nullptr)
      : QAbstractItemModel(parent), counted_(std::move(counted)) {}

  // --- Implemented by derived classes ---
  [[nodiscard]] virtual std::optional<std::int64_t> number(int /*row*/, int /*column*/) const {
    return std::nullopt;
  }
  [[nodiscard]] virtual QString text(int row, int column) const = 0;
  // Lines of the tooltip between the exact number or text and the column's meaning.
  [[nodiscard]] virtual QString note(int /*row*/, int /*column*/) const { return {}; }
  [[nodiscard]] virtual QVariant decoration(int /*row*/, int /*column*/) const { return {}; }
  // Returns true if the row shows an error, and is thus painted in the error color.
  [[nodiscard]] virtual bool is_alarm(int /*row*/) const { return false; }
  // A number that identifies the row across rebuilds.
  [[nodiscard]] virtual std::uint64_t key(int row) const { return static_cast<std::uint64_t>(row); }
  // The nodes that the row stands for, in any order.
  [[nodiscard]] virtual std::vector<NodeId> nodes(int /*row*/) const { return {}; }
  // The deepest row that contains a node, or -1.
  [[nodiscard]] virtual int row_of(NodeId /*node*/) const { return -1; }
  // The number of items that a row stands for; more than one for a group.
  [[nodiscard]] virtual std::size_t things(int /*row*/) const { return 1; }
  // The totals of some rows by column; nullopt for columns without a total. No row may be a
  // descendant of another. By default, these are the sums of the numbers in columns that add up,
  // unless a sum does not fit into 64 bits; models with rows that share items override this.
  [[nodiscard]] virtual std::vector<std::optional<std::int64_t>> sums(
      std::span<const int> rows) const;

  [[nodiscard]] const std::vector<Column>& columns() const { return columns_; }
  // The items that the totals count, as text: "3 operators".
  [[nodiscard]] QString item_count_text(std::size_t count) const;

  // --- Rows ---
  [[nodiscard]] int row_count() const { return static_cast<int>(parents_.size()); }
  [[nodiscard]] int parent_row(int row) const { return parents_[static_cast<std::size_t>(row)]; }
  // The visible children of a row, in sort order; for -1, the visible top-level rows.
  [[nodiscard]] std::span<const int> shown(int parent) const;
  [[nodiscard]] static int row_at(const QModelIndex& index) {
    return static_cast<int>(index.internalId());
  }
  // The index of the row; invalid if the filter hides it, or if there is no such row.
  [[nodiscard]] QModelIndex index_of(int row, int column = 0) const;

  void set_filter(const QString& filter);
  [[nodiscard]] const QString& filter() const { return filter_; }
  // Why the filter is invalid, in one sentence; empty if it is valid. An invalid filter is ignored.
  [[nodiscard]] virtual QString filter_error() const { return {}; }

  // Totals of the given rows. A row below another given row is not counted again.
  [[nodiscard]] Totals totals(std::span<const int> rows) const;
  // Totals of the rows that match the filter.
  [[nodiscard]] Totals totals() const;
  // "12 operators · 41.2 GiB · 612 ms". Skips columns whose total is 0 or missing.
  [[nodiscard]] QString totals_text(const Totals& totals) const;

  // A cell and a title as exported and copied; raw numbers by default (see raw_text).
  [[nodiscard]] virtual QString exported(int row, int column) const;
  [[nodiscard]] virtual QString exported_title(int column) const;
  // A line of exported titles, then one line of exported cells per row.
  [[nodiscard]] QString tsv(std::span<const int> rows) const;

  // --- QAbstractItemModel ---
  [[nodiscard]] QModelIndex index(int row, int column,
                                  const QModelIndex& parent = {}) const override;
  [[nodiscard]] QModelIndex parent(const QModelIndex& index) const override;
  using QAbstractItemModel::parent;
  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] bool hasChildren(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation,
                                    int role) const override;
  // Column -1 restores the original order.
  void sort(int column, Qt::SortOrder order = Qt::AscendingOrder) override;

 protected:
  // Columns may change only between begin_rows and set_rows, or before there are rows.
  void set_columns(std::vector<Column> columns) { columns_ = std::move(columns); }
  [[nodiscard]] Column& column_at(int column) { return columns_[static_cast<std::size_t>(column)]; }
  void set_counted(Counted counted) { counted_ = std::move(counted); }
  // Begins a rebuild, which set_rows ends; the derived class changes its data in between.
  void begin_rows() { beginResetModel(); }
  // The parent of each row, or -1 for roots; parents precede their children.
  void set_rows(std::vector<int> parents);
  // Tells views that all cells of the top-level rows have changed, but not the rows. Views must
  // repaint other rows themselves.
  void emit_cells_changed(const QList<int>& roles = {});
  // Must be called when the cells of a column have changed, but not the rows: if the rows are
  // sorted by this column, sorts them again.
  void sort_again(int column);

  // --- For filters by criteria other than text ---
  // Called when the filter or the rows have changed.
  virtual void prepare_filter() {}
  [[nodiscard]] virtual bool hides_rows() const { return !filter_.isEmpty(); }
  // Returns true if the row itself matches, regardless of its ancestors. `words`: the words of the
  // filter.
  [[nodiscard]] virtual bool passes(int row, const QStringList& words) const;
  // Must be called when a criterion other than the filter's text has changed.
  void refilter();

 private:
  [[nodiscard]] QString tooltip(int row, int column) const;
  void apply_filter();
  void rearrange();  // arranges the same rows in a different order
  void arrange();    // fills shown_ with the rows that the filter shows, in sort order
  void sort_rows(std::span<int> rows) const;
  void add_matches(int parent, std::vector<int>& rows) const;
  [[nodiscard]] Totals totals_of(std::span<const int> rows) const;

  Counted counted_;
  std::vector<Column> columns_;
  std::vector<int> parents_;
  std::vector<int> first_;     // by parent + 1: index of its first child in shown_
  std::vector<int> counts_;    // by parent + 1: number of its visible children
  std::vector<int> shown_;     // children of -1, 0, 1, ...: visible ones come first
  std::vector<int> places_;    // by row: its index among its parent's visible children, or -1
  std::vector<char> matches_;  // by row: the row or an ancestor matches the filter
  std::vector<char> visible_;  // by row: the row, an ancestor or a descendant matches
  QString filter_;
  int sort_column_ = -1;
  Qt::SortOrder sort_order_ = Qt::AscendingOrder;
};

}  // namespace jointer::views
