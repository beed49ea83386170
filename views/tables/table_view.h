#pragma once

#include <QTreeView>
#include <unordered_set>

#include "views/tables/table_model.h"

namespace jointer::views {

// Shows a TableModel. What is expanded, selected, current and scrolled to stays when the model
// makes its rows anew. Ctrl+C copies the selected rows as TSV.
class TableView : public QTreeView {
  Q_OBJECT
 public:
  // The model must outlive the view.
  explicit TableView(TableModel& model, QWidget* parent = nullptr);

  // Selected rows, from top to bottom.
  [[nodiscard]] std::vector<int> selected_rows() const;
  // The row, or the nearest one above it that no collapsed row hides. -1: none is shown.
  [[nodiscard]] int exposed_row(int row) const;
  // Selects one row and scrolls to it, or none (-1); rows_chosen is not emitted.
  void show_row(int row);
  // The same, with the rows above it expanded; those that an earlier call expanded are collapsed
  // again, unless a person has selected rows since.
  void uncover_row(int row);
  // Widths that fit the titles and what is on screen.
  void fit_columns();

 public slots:
  void copy();

 signals:
  // A person selected rows, or clicked a selected one again.
  void rows_chosen();
  void selection_changed();

 protected:
  void selectionChanged(const QItemSelection& selected, const QItemSelection& deselected) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void remember();
  void restore();

  TableModel& model_;
  bool is_restoring_ = false;
  std::unordered_set<std::uint64_t> uncovered_;  // keys of what uncover_row expanded

  struct Remembered {
    std::unordered_set<std::uint64_t> expanded, selected;
    std::optional<std::uint64_t> current;
    int scroll = 0;
  } remembered_;
  void remember_expanded(int parent);
};

}  // namespace jointer::views
