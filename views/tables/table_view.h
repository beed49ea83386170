#pragma once

#include <QTreeView>
#include <unordered_set>

#include "views/tables/table_model.h"

class QMenu;

namespace jointer::views {

// Shows a TableModel and preserves expansion, selection, current row and scroll position when the
// model rebuilds its rows. Ctrl+C copies the selected rows as TSV.
class TableView : public QTreeView {
  Q_OBJECT
 public:
  // `model` must outlive the view.
  explicit TableView(TableModel& model, QWidget* parent = nullptr);

  // For tables without a tree: removes the space for expand arrows, and prevents expanding and
  // collapsing.
  void set_flat();
  // The column with the names keeps more space than other texts; by default the first one. Must be
  // set before the columns are fitted.
  void set_names_column(int column) { names_ = column; }
  // Selected rows from top to bottom.
  [[nodiscard]] std::vector<int> selected_rows() const;
  // The row or, if it is inside a collapsed row, its nearest visible ancestor; -1 if the filter
  // hides the row.
  [[nodiscard]] int exposed_row(int row) const;
  // Selects only this row, or none if -1, and scrolls to it. Does not emit rows_chosen.
  void show_row(int row);
  // Like show_row, but expands the ancestors. Other rows expanded by an earlier call are collapsed
  // again, unless the user has selected rows since.
  void uncover_row(int row);
  // Fits the column widths to the titles and visible cells. If the columns are too wide together,
  // some are hidden or become narrower (column.h); hidden ones return when the table becomes wider.
  void fit_columns();
  // Shows or hides a column as the user requests. It is then never hidden for lack of space.
  void choose_column(int column, bool is_shown);
  // Adds an action for each column that shows or hides it, except for those that identify the row,
  // and one that fits the widths. The header's menu has the same actions.
  void add_columns(QMenu& menu);

 public slots:
  void copy();

 signals:
  // The user selected rows, or clicked a selected row again.
  void rows_chosen();
  void selection_changed();

 protected:
  void selectionChanged(const QItemSelection& selected, const QItemSelection& deselected) override;
  void keyPressEvent(QKeyEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  // In pixels. `title` is the width of the title, `content` that of the longest text, without
  // limits.
  struct ColumnWidths {
    int title = 0, min = 0, wanted = 0, content = 0;
  };
  [[nodiscard]] ColumnWidths widths_of(int column) const;
  void show_columns_menu(QPoint at);
  void lay_out_columns();
  void hide_low_priority_columns(int space);
  // The columns that are shown, from left to right.
  [[nodiscard]] std::vector<int> shown_columns() const;
  void remember();
  void restore();

  TableModel& model_;
  bool is_restoring_ = false;
  std::vector<ColumnWidths> widths_;     // since the columns were fitted; empty before
  std::unordered_set<int> auto_hidden_;  // columns
  std::unordered_set<int> chosen_;       // columns that the user showed or hid
  int names_ = 0;                        // the column with the names
  bool is_laying_out_ = false, has_user_widths_ = false;
  std::unordered_set<std::uint64_t> uncovered_;  // keys of the rows that uncover_row expanded

  struct Remembered {
    std::unordered_set<std::uint64_t> expanded, selected;
    std::optional<std::uint64_t> current;
    int scroll = 0;
  } remembered_;
  void remember_expanded(int parent);
};

}  // namespace jointer::views
