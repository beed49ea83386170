#include "views/tables/table_view.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QHeaderView>
#include <QKeyEvent>
#include <QScopedValueRollback>
#include <QScrollBar>
#include <algorithm>

#include "views/tables/table_delegate.h"

namespace jointer::views {
namespace {

constexpr int kMinColumn = 44;
constexpr int kMaxTextColumn = 320;
constexpr int kMaxNumberColumn = 140;
constexpr int kSortMark = 18;  // space for a header's sort arrow

// The longest number that a column usually has.
QString longest_number(Unit unit) {
  switch (unit) {
    case Unit::text:
      return {};
    case Unit::count:
    case Unit::step:
    case Unit::share:
    case Unit::fraction:
    case Unit::change:
      return QStringLiteral("10,000");
    default:
      return QStringLiteral("1,000 MiB");
  }
}

}  // namespace

TableView::TableView(TableModel& model, QWidget* parent) : QTreeView(parent), model_(model) {
  setItemDelegate(new TableDelegate(this));
  setUniformRowHeights(true);
  setAllColumnsShowFocus(true);
  setSelectionMode(QAbstractItemView::ExtendedSelection);
  setEditTriggers(QAbstractItemView::NoEditTriggers);
  setExpandsOnDoubleClick(true);
  setTextElideMode(Qt::ElideMiddle);
  setFrameShape(QFrame::NoFrame);
  setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
  header()->setStretchLastSection(false);
  header()->setSectionsMovable(true);
  header()->setMinimumSectionSize(kMinColumn);
  header()->setSortIndicator(-1, Qt::DescendingOrder);
  header()->setSortIndicatorClearable(true);
  setModel(&model);
  setSortingEnabled(true);
  connect(&model, &QAbstractItemModel::modelAboutToBeReset, this, &TableView::remember);
  connect(&model, &QAbstractItemModel::modelReset, this, &TableView::restore);
  connect(this, &QAbstractItemView::clicked, this, &TableView::rows_chosen);
}

void TableView::set_flat() {
  setRootIsDecorated(false);
  setItemsExpandable(false);
}

std::vector<int> TableView::selected_rows() const {
  std::vector<int> rows;
  for (const QModelIndex& index : selectionModel()->selectedRows())
    rows.push_back(TableModel::row_at(index));
  if (rows.size() < 2) return rows;
  // Sort from top to bottom: compare positions level by level, parents first.
  std::vector<std::pair<std::vector<int>, int>> placed;
  placed.reserve(rows.size());
  for (const int row : rows) {
    std::vector<int> place;
    for (QModelIndex at = model_.index_of(row); at.isValid(); at = at.parent())
      place.insert(place.begin(), at.row());
    placed.emplace_back(std::move(place), row);
  }
  std::sort(placed.begin(), placed.end());
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = placed[i].second;
  return rows;
}

int TableView::exposed_row(int row) const {
  if (row < 0 || !model_.index_of(row).isValid()) return -1;
  int exposed = row;
  for (int above = model_.parent_row(row); above >= 0; above = model_.parent_row(above))
    if (!isExpanded(model_.index_of(above))) exposed = above;
  return exposed;
}

void TableView::show_row(int row) {
  const QScopedValueRollback restoring(is_restoring_, true);
  if (row < 0) {
    clearSelection();
    return;
  }
  const QModelIndex index = model_.index_of(row);
  selectionModel()->setCurrentIndex(
      index, QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
  const int left = horizontalScrollBar()->value();
  scrollTo(index);
  horizontalScrollBar()->setValue(left);
}

void TableView::uncover_row(int row) {
  const QScopedValueRollback restoring(is_restoring_, true);
  const QModelIndex index = row < 0 ? QModelIndex() : model_.index_of(row);
  std::unordered_set<std::uint64_t> above;
  for (QModelIndex at = index.parent(); at.isValid(); at = at.parent()) {
    const std::uint64_t key = model_.key(TableModel::row_at(at));
    if (!isExpanded(at) || uncovered_.contains(key)) above.insert(key);
    expand(at);
  }
  for (int other = 0; !uncovered_.empty() && other < model_.row_count(); ++other)
    if (const std::uint64_t key = model_.key(other);
        uncovered_.erase(key) > 0 && !above.contains(key))
      collapse(model_.index_of(other));
  uncovered_ = std::move(above);
  show_row(index.isValid() ? row : -1);
}

void TableView::fit_columns() {
  for (int c = 0; c < model_.columnCount(); ++c) {
    const int mark = isSortingEnabled() ? kSortMark : 0;
    const int title = fontMetrics().horizontalAdvance(
                          model_.headerData(c, Qt::Horizontal, Qt::DisplayRole).toString()) +
                      mark + 12;
    const Unit unit = model_.columns()[static_cast<std::size_t>(c)].unit;
    const bool is_text = unit == Unit::text;
    const int content =
        sizeHintForColumn(c) + 8 + (c == 0 && rootIsDecorated() ? indentation() : 0);
    // Leave space for the longer numbers of other moments and graphs.
    const int figure =
        is_text ? 0 : fontMetrics().horizontalAdvance(longest_number(unit)) + kSortMark;
    const int own_limit = model_.columns()[static_cast<std::size_t>(c)].max_width;
    const int most = own_limit > 0 ? own_limit : is_text ? kMaxTextColumn : kMaxNumberColumn;
    int width = std::clamp(std::max({content, title, figure}), kMinColumn, most);
    // In a narrow pane, limit the first column, which has the names, so that the next columns fit.
    if (c == 0) width = std::clamp(width, kMinColumn, std::max(140, viewport()->width() * 9 / 20));
    setColumnWidth(c, width);
  }
}

void TableView::copy() {
  std::vector<int> rows = selected_rows();
  if (rows.empty()) return;
  QGuiApplication::clipboard()->setText(model_.tsv(rows));
}

void TableView::selectionChanged(const QItemSelection& selected, const QItemSelection& deselected) {
  QTreeView::selectionChanged(selected, deselected);
  emit selection_changed();
  if (is_restoring_) return;
  uncovered_.clear();
  emit rows_chosen();
}

void TableView::keyPressEvent(QKeyEvent* event) {
  if (event->matches(QKeySequence::Copy)) {
    copy();
    event->accept();
    return;
  }
  QTreeView::keyPressEvent(event);
}

void TableView::remember_expanded(int parent) {
  for (const int row : model_.shown(parent)) {
    const QModelIndex index = model_.index_of(row);
    if (model_.shown(row).empty() || !isExpanded(index)) continue;
    remembered_.expanded.insert(model_.key(row));
    remember_expanded(row);
  }
}

void TableView::remember() {
  // If there is a filter, also keep the keys of expanded rows that it hides.
  if (model_.filter().isEmpty()) remembered_.expanded.clear();
  remembered_.selected.clear();
  remembered_.current.reset();
  remember_expanded(-1);
  for (const int row : selected_rows()) remembered_.selected.insert(model_.key(row));
  if (currentIndex().isValid())
    remembered_.current = model_.key(TableModel::row_at(currentIndex()));
  remembered_.scroll = verticalScrollBar()->value();
}

void TableView::restore() {
  const Remembered& was = remembered_;
  const QScopedValueRollback restoring(is_restoring_, true);
  if (!was.expanded.empty() || !was.selected.empty() || was.current) {
    QItemSelection selection;
    QModelIndex current;
    const int last = model_.columnCount() - 1;
    for (int row = 0; row < model_.row_count(); ++row) {
      const QModelIndex index = model_.index_of(row);
      if (!index.isValid()) continue;
      const std::uint64_t key = model_.key(row);
      if (was.expanded.contains(key)) setExpanded(index, true);
      if (was.selected.contains(key)) selection.select(index, model_.index_of(row, last));
      if (was.current == key) current = index;
    }
    if (current.isValid())
      selectionModel()->setCurrentIndex(current, QItemSelectionModel::NoUpdate);
    selectionModel()->select(selection, QItemSelectionModel::ClearAndSelect);
  }
  // Expand all rows, unless there are too many, so that every match is visible.
  if (!model_.filter().isEmpty() && model_.row_count() < 5000) expandAll();
  executeDelayedItemsLayout();
  verticalScrollBar()->setValue(was.scroll);
  emit selection_changed();
}

}  // namespace jointer::views
