#pragma once

#include <QAbstractItemModel>
#include <optional>
#include <span>
#include <vector>

#include "core/base/id.h"
#include "views/tables/column.h"

namespace jointer::views {

// The common base of tables and trees of 10^5 rows.
//
// A row is a number: 0 .. row_count. Rows form a forest (a plain table: all are roots). What a row
// holds is asked for only when it is shown, sorted by, or copied. Sorting is by raw values and
// stable: rows with equal values stay in the order in which they were made. A filter shows the rows
// whose texts contain every word of it, with all that is above and below them.
//
// A derived class says what its columns and cells are and calls set_rows when its rows are others.
// That resets the model; TableView finds its rows again by their keys.
class TableModel : public QAbstractItemModel {
  Q_OBJECT
 public:
  enum DataRole : int {
    raw_role = Qt::UserRole,  // qlonglong of numbers, QString of texts
    bar_role,                 // double from 0 to 1, of columns that are shares
    alarm_role,               // bool: the row says that something went wrong
  };

  // What a set of rows adds up to; a member that the table has no column for is left out of words.
  struct Totals {
    std::size_t things = 0;
    std::vector<std::optional<std::int64_t>> by_column;  // of columns that add up
  };

  using QAbstractItemModel::QAbstractItemModel;

  // --- What derived classes say ---
  [[nodiscard]] virtual const std::vector<Column>& columns() const = 0;
  [[nodiscard]] virtual std::optional<std::int64_t> number(int row, int column) const = 0;
  [[nodiscard]] virtual QString text(int row, int column) const = 0;
  // More to say than the exact number and the column's meaning; one line or several.
  [[nodiscard]] virtual QString note(int /*row*/, int /*column*/) const { return {}; }
  [[nodiscard]] virtual QVariant decoration(int /*row*/, int /*column*/) const { return {}; }
  // Something went wrong: the row is written in the colour of errors.
  [[nodiscard]] virtual bool is_alarm(int /*row*/) const { return false; }
  // The same row before and after a rebuild has the same key.
  [[nodiscard]] virtual std::uint64_t key(int row) const = 0;
  // Nodes that the row stands for, in any order.
  [[nodiscard]] virtual std::vector<NodeId> nodes(int row) const = 0;
  // The deepest row that stands for a node, or -1.
  [[nodiscard]] virtual int row_of(NodeId node) const = 0;
  // How many things a row stands for: more than one where it is a group of them.
  [[nodiscard]] virtual std::size_t things(int /*row*/) const { return 1; }
  // "3 operators": what totals are of.
  [[nodiscard]] virtual QString things_text(std::size_t things) const = 0;

  // --- Rows ---
  [[nodiscard]] int row_count() const { return static_cast<int>(parents_.size()); }
  [[nodiscard]] int parent_row(int row) const { return parents_[static_cast<std::size_t>(row)]; }
  // Children of a row, or the roots of -1, that the filter shows, in the order of the sorting.
  [[nodiscard]] std::span<const int> shown(int parent) const;
  [[nodiscard]] static int row_at(const QModelIndex& index) {
    return static_cast<int>(index.internalId());
  }
  // Invalid if the filter hides the row.
  [[nodiscard]] QModelIndex index_of(int row, int column = 0) const;

  void set_filter(const QString& filter);
  [[nodiscard]] const QString& filter() const { return filter_; }
  // Why the filter cannot be understood, in a sentence; it then hides nothing.
  [[nodiscard]] virtual QString filter_mistake() const { return {}; }
  [[nodiscard]] int sort_column() const { return sort_column_; }
  [[nodiscard]] Qt::SortOrder sort_order() const { return sort_order_; }

  // Of the rows given, each part counted once: a row below another given one adds nothing.
  [[nodiscard]] Totals totals(std::span<const int> rows) const;
  // Of what the filter lets through.
  [[nodiscard]] Totals totals() const;
  // "12 operators · 41.2 GiB · 612 ms".
  [[nodiscard]] QString totals_text(const Totals& totals) const;

  // A line of titles, then a line a row: texts as they are, numbers in full without separators.
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
  // -1 is the order in which the rows were made.
  void sort(int column, Qt::SortOrder order = Qt::AscendingOrder) override;

 protected:
  // Starts a rebuild: between this and set_rows the derived class changes what it holds.
  void begin_rows() { beginResetModel(); }
  // Parent of each row, -1 for roots; a parent comes before its children.
  void set_rows(std::vector<int> parents);

  // --- For filters that look at other things than texts ---
  // The filter is another, or the rows are.
  virtual void prepare_filter() {}
  [[nodiscard]] virtual bool hides_rows() const { return !filter_.isEmpty(); }
  // Of a row none of those above it passes. `words`: of the filter.
  [[nodiscard]] virtual bool passes(int row, const QStringList& words) const;
  // What decides besides the filter's text is another.
  void filter_anew();

 private:
  [[nodiscard]] QString tooltip(int row, int column) const;
  void apply_filter();
  void arrange();  // fills shown rows from the filter, sorted
  void sort_rows(std::span<int> rows) const;
  void add_matches(int parent, Totals& totals) const;
  void add_row(int row, Totals& totals) const;

  std::vector<int> parents_;
  std::vector<int> first_;     // by parent + 1: where its children begin in shown_
  std::vector<int> counts_;    // by parent + 1: how many of them are shown
  std::vector<int> shown_;     // children of -1, 0, 1, ...: those that are shown come first
  std::vector<int> places_;    // by row: its place among its parent's shown children, -1 if hidden
  std::vector<char> matches_;  // by row: it, or a row above it, passes the filter
  std::vector<char> visible_;  // by row: it, a row above or a row below passes
  QString filter_;
  int sort_column_ = -1;
  Qt::SortOrder sort_order_ = Qt::AscendingOrder;
};

}  // namespace jointer::views
