#include "views/tables/table_view.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QHeaderView>
#include <QKeyEvent>
#include <QMenu>
#include <QResizeEvent>
#include <QScopedValueRollback>
#include <QScrollBar>
#include <algorithm>
#include <span>
#include <utility>

#include "views/session/text/number_text.h"
#include "views/tables/table_delegate.h"

namespace jointer::views {
namespace {

constexpr int kMinColumn = 44;
constexpr int kMaxTextColumn = 320;
// Minimum widths of text columns that become narrower so that the columns after them fit. The
// column with the names keeps more space.
constexpr int kMinNames = 140, kMinElided = 96;
constexpr int kMaxNumberColumn = 140;
constexpr int kSortMark = 18;                           // space for a header's sort arrow
constexpr int kTitleMargins = 12, kMinTitleSpace = 12;  // around a title, and next to it
constexpr int kCellMargins = 8;

bool has_negative(const TableModel& model, int column) {
  for (int row = 0; row < model.row_count(); ++row)
    if (model.number(row, column).value_or(0) < 0) return true;
  return false;
}

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
  header()->setContextMenuPolicy(Qt::CustomContextMenu);
  connect(header(), &QWidget::customContextMenuRequested, this, &TableView::show_columns_menu);
  connect(header(), &QHeaderView::sectionResized, this, [this] {
    if (!is_laying_out_) has_user_widths_ = true;
  });
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
  widths_.clear();
  for (int c = 0; c < model_.columnCount(); ++c) widths_.push_back(widths_of(c));
  has_user_widths_ = false;
  lay_out_columns();
}

TableView::ColumnWidths TableView::widths_of(int c) const {
  const Column& column = model_.columns()[static_cast<std::size_t>(c)];
  const int mark = isSortingEnabled() ? kSortMark : kMinTitleSpace;
  const int title = fontMetrics().horizontalAdvance(
                        model_.headerData(c, Qt::Horizontal, Qt::DisplayRole).toString()) +
                    mark + kTitleMargins;
  const bool is_text = column.unit == Unit::text;
  const int content =
      sizeHintForColumn(c) + kCellMargins + (c == 0 && rootIsDecorated() ? indentation() : 0);
  // Leave space for the longer numbers of other moments and graphs.
  QString longest = longest_number(column.unit);
  if (column.unit == Unit::change || has_negative(model_, c)) longest.prepend(QChar(kMinus));
  const int figure = is_text ? 0 : fontMetrics().horizontalAdvance(longest) + kCellMargins;
  const int max_width = column.max_width > 0 ? column.max_width
                        : is_text            ? kMaxTextColumn
                                             : kMaxNumberColumn;
  const int wanted = std::max({content, title, is_text ? 0 : figure + kSortMark - kCellMargins});
  ColumnWidths widths{.title = title,
                      .min = std::clamp(std::max({content, title, figure}), kMinColumn, max_width),
                      .wanted = std::clamp(wanted, kMinColumn, max_width),
                      .content = content};
  if (is_text && column.max_width > 0)
    widths.min = std::min(widths.min, std::max(title, c == names_ ? kMinNames : kMinElided));
  return widths;
}

// Hides as few columns as possible, those with the highest hide_priority first, and shows hidden
// ones again if they now fit.
void TableView::hide_low_priority_columns(int space) {
  for (const int c : std::exchange(auto_hidden_, {})) setColumnHidden(c, false);
  const auto rank = [this](int c) {
    return chosen_.contains(c) ? 0 : model_.columns()[static_cast<std::size_t>(c)].hide_priority;
  };
  for (std::vector<int> shown = shown_columns(); !shown.empty(); shown = shown_columns()) {
    int needed = 0;
    for (const int c : shown) needed += widths_[static_cast<std::size_t>(c)].min;
    const int next =
        *std::ranges::max_element(shown, [&](int a, int b) { return rank(a) < rank(b); });
    if (needed <= space || rank(next) == 0) return;
    auto_hidden_.insert(next);
    setColumnHidden(next, true);
  }
}

std::vector<int> TableView::shown_columns() const {
  std::vector<int> shown;
  for (int visual = 0; visual < header()->count(); ++visual)
    if (const int c = header()->logicalIndex(visual); !isColumnHidden(c)) shown.push_back(c);
  return shown;
}

// Narrows columns until all are visible or, if that is impossible, until the first column that
// would be cut off is visible as a whole. Texts that may be elided, except for names, become
// narrower than their usual minimum if that makes all columns visible, since a number that is cut
// off cannot be read.
void TableView::lay_out_columns() {
  const QScopedValueRollback laying_out(is_laying_out_, true);
  const int space = viewport()->width();
  hide_low_priority_columns(space);
  std::vector<int> widths;  // of all columns
  for (const ColumnWidths& each : widths_) widths.push_back(each.wanted);
  // In a narrow pane, limit the column with the names so that the next columns fit.
  if (static_cast<std::size_t>(names_) < widths.size()) {
    int& names = widths[static_cast<std::size_t>(names_)];
    names = std::clamp(names, kMinColumn, std::max(kMinNames, space * 9 / 20));
  }
  const std::vector<int> shown = shown_columns();
  const auto width_of = [&](int c) -> int& { return widths[static_cast<std::size_t>(c)]; };
  std::vector<int> mins(widths.size());  // of all columns
  const auto min_of = [&](int c) -> int& { return mins[static_cast<std::size_t>(c)]; };
  int sum_of_all_mins = 0, elidable = 0;
  const auto elidable_part = [&](int c) {
    const Column& column = model_.columns()[static_cast<std::size_t>(c)];
    const bool is_elided = c != 0 && column.unit == Unit::text && column.max_width > 0;
    const int min_width =
        c == names_ ? std::max(widths_[static_cast<std::size_t>(c)].title, kMinElided) : kMinColumn;
    return is_elided ? std::max(min_of(c) - min_width, 0) : 0;
  };
  for (const int c : shown) {
    min_of(c) = std::min(widths_[static_cast<std::size_t>(c)].min, width_of(c));
    sum_of_all_mins += min_of(c);
    elidable += elidable_part(c);
  }
  if (sum_of_all_mins > space && sum_of_all_mins - elidable <= space)
    for (const int c : shown) {
      const int less = std::min(elidable_part(c), sum_of_all_mins - space);
      min_of(c) -= less;
      sum_of_all_mins -= less;
    }
  int sum = 0, sum_of_mins = 0;
  std::size_t count = 0;  // of the columns that should fit
  while (count < shown.size() && (sum < space || sum_of_all_mins <= space)) {
    sum += width_of(shown[count]);
    sum_of_mins += min_of(shown[count]);
    ++count;
  }
  if (sum_of_mins <= space) {
    const std::span<const int> fitted = std::span(shown).first(count);
    // Narrow the column that is furthest above its minimum.
    const auto has_less = [&](int a, int b) {
      return width_of(a) - min_of(a) < width_of(b) - min_of(b);
    };
    for (; sum > space; --sum) --width_of(*std::ranges::max_element(fitted, has_less));
    if (!shown.empty() && count == shown.size()) {
      const int names = isColumnHidden(names_) ? shown.front() : names_;
      const int more = widths_[static_cast<std::size_t>(names)].content - width_of(names);
      width_of(names) += std::clamp(more, 0, space - sum);
    }
  }
  for (int c = 0; c < static_cast<int>(widths.size()); ++c) setColumnWidth(c, width_of(c));
}

void TableView::choose_column(int column, bool is_shown) {
  const QScopedValueRollback laying_out(is_laying_out_, true);
  chosen_.insert(column);
  auto_hidden_.erase(column);
  setColumnHidden(column, !is_shown);
}

void TableView::add_columns(QMenu& menu) {
  // The columns that identify the row stay visible.
  for (int column = 1; column < model_.columnCount(); ++column) {
    if (column == names_) continue;
    QAction* action = menu.addAction(model_.columns()[static_cast<std::size_t>(column)].title,
                                     [this, column](bool show) { choose_column(column, show); });
    action->setCheckable(true);
    action->setChecked(!isColumnHidden(column));
  }
  menu.addSeparator();
  menu.addAction(tr("Fit Column Widths"), this, &TableView::fit_columns);
}

void TableView::show_columns_menu(QPoint at) {
  QMenu menu(this);
  add_columns(menu);
  menu.exec(header()->mapToGlobal(at));
}

void TableView::resizeEvent(QResizeEvent* event) {
  QTreeView::resizeEvent(event);
  const bool any_gives_way = std::ranges::any_of(
      model_.columns(), [](const Column& column) { return column.hide_priority > 0; });
  if (any_gives_way && !widths_.empty() && !has_user_widths_ &&
      event->size().width() != event->oldSize().width())
    lay_out_columns();
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
