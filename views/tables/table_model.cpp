#include "views/tables/table_model.h"

#include <algorithm>
#include <numeric>

#include "core/base/checked.h"
#include "core/base/index.h"
#include "views/session/text/number_text.h"

namespace jointer::views {
namespace {

QString one_line(QString text) {
  return text.replace(u'\t', u' ').replace(u'\n', u' ');
}

}  // namespace

std::span<const int> TableModel::shown(int parent) const {
  if (first_.empty()) return {};
  return std::span(shown_).subspan(as_index(first_[as_index(parent + 1)]),
                                   as_index(counts_[as_index(parent + 1)]));
}

QModelIndex TableModel::index_of(int row, int column) const {
  if (row < 0 || row >= row_count() || places_[as_index(row)] < 0) return {};
  return createIndex(places_[as_index(row)], column, static_cast<quintptr>(row));
}

void TableModel::set_rows(std::vector<int> parents) {
  parents_ = std::move(parents);
  first_.assign(parents_.size() + 1, 0);
  counts_.assign(parents_.size() + 1, 0);
  for (const int parent : parents_) ++counts_[as_index(parent + 1)];
  std::exclusive_scan(counts_.begin(), counts_.end(), first_.begin(), 0);
  shown_.resize(parents_.size());
  apply_filter();
  arrange();
  endResetModel();
}

void TableModel::emit_cells_changed(const QList<int>& roles) {
  if (rowCount() > 0)
    emit dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1), roles);
}

bool TableModel::passes(int row, const QStringList& words) const {
  QString texts;
  for (std::size_t c = 0; c < columns().size(); ++c)
    if (columns()[c].unit == Unit::text) texts += text(row, static_cast<int>(c)) + u'\n';
  return std::ranges::all_of(
      words, [&](const QString& word) { return texts.contains(word, Qt::CaseInsensitive); });
}

void TableModel::apply_filter() {
  const QStringList words = filter_.split(u' ', Qt::SkipEmptyParts);
  prepare_filter();
  matches_.assign(parents_.size(), 1);
  if (hides_rows()) {
    for (int row = 0; row < row_count(); ++row) {
      const int parent = parents_[as_index(row)];
      matches_[as_index(row)] =
          (parent >= 0 && matches_[as_index(parent)] != 0) || passes(row, words) ? 1 : 0;
    }
  }
  visible_ = matches_;
  for (int row = row_count() - 1; row >= 0; --row)
    if (visible_[as_index(row)] != 0 && parents_[as_index(row)] >= 0)
      visible_[as_index(parents_[as_index(row)])] = 1;
}

void TableModel::arrange() {
  std::fill(counts_.begin(), counts_.end(), 0);
  for (int row = 0; row < row_count(); ++row) {
    if (visible_[as_index(row)] == 0) continue;
    const std::size_t parent = as_index(parents_[as_index(row)] + 1);
    shown_[as_index(first_[parent] + counts_[parent]++)] = row;
  }
  places_.assign(parents_.size(), -1);
  for (std::size_t parent = 0; parent < counts_.size(); ++parent) {
    const auto children =
        std::span(shown_).subspan(as_index(first_[parent]), as_index(counts_[parent]));
    if (sort_column_ >= 0) sort_rows(children);
    for (std::size_t i = 0; i < children.size(); ++i)
      places_[as_index(children[i])] = static_cast<int>(i);
  }
}

void TableModel::sort_rows(std::span<int> rows) const {
  if (rows.size() < 2) return;
  const bool descending = sort_order_ == Qt::DescendingOrder;
  const auto arrange_by = [&](auto& keyed, auto less) {
    std::stable_sort(keyed.begin(), keyed.end(), [&](const auto& a, const auto& b) {
      return descending ? less(b.first, a.first) : less(a.first, b.first);
    });
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = keyed[i].second;
  };
  if (columns()[as_index(sort_column_)].unit == Unit::text) {
    std::vector<std::pair<QString, int>> keyed;
    for (const int row : rows) keyed.emplace_back(text(row, sort_column_), row);
    arrange_by(keyed, natural_less);
  } else {
    // A missing number sorts below all numbers.
    std::vector<std::pair<std::optional<std::int64_t>, int>> keyed;
    for (const int row : rows) keyed.emplace_back(number(row, sort_column_), row);
    arrange_by(keyed, std::less<>());
  }
}

void TableModel::set_filter(const QString& filter) {
  const QString clean = filter.simplified();
  if (clean == filter_) return;
  beginResetModel();
  filter_ = clean;
  apply_filter();
  arrange();
  endResetModel();
}

void TableModel::refilter() {
  beginResetModel();
  apply_filter();
  arrange();
  endResetModel();
}

void TableModel::sort(int column, Qt::SortOrder order) {
  if (column >= columnCount()) return;
  if (column == sort_column_ && order == sort_order_) return;
  sort_column_ = column;
  sort_order_ = order;
  rearrange();
}

void TableModel::sort_again(int column) {
  if (column == sort_column_) rearrange();
}

void TableModel::rearrange() {
  emit layoutAboutToBeChanged({}, QAbstractItemModel::VerticalSortHint);
  const QModelIndexList before = persistentIndexList();
  arrange();
  QModelIndexList after;
  for (const QModelIndex& index : before) after << index_of(row_at(index), index.column());
  changePersistentIndexList(before, after);
  emit layoutChanged({}, QAbstractItemModel::VerticalSortHint);
}

std::vector<std::optional<std::int64_t>> TableModel::sums(std::span<const int> rows) const {
  std::vector<std::optional<std::int64_t>> sums(columns().size());
  for (std::size_t c = 0; c < columns().size(); ++c) {
    if (!columns()[c].adds_up) continue;
    for (const int row : rows) {
      const auto value = number(row, static_cast<int>(c));
      if (!value) continue;
      sums[c] = checked_add(sums[c].value_or(0), *value);
      if (!sums[c]) break;
    }
  }
  return sums;
}

TableModel::Totals TableModel::totals_of(std::span<const int> rows) const {
  Totals totals{.by_column = sums(rows)};
  for (const int row : rows) totals.things += things(row);
  return totals;
}

TableModel::Totals TableModel::totals(std::span<const int> rows) const {
  std::vector<char> given(parents_.size(), 0);
  for (const int row : rows) given[as_index(row)] = 1;
  std::vector<int> tops;
  for (const int row : rows) {
    int above = parents_[as_index(row)];
    while (above >= 0 && given[as_index(above)] == 0) above = parents_[as_index(above)];
    if (above < 0) tops.push_back(row);
  }
  return totals_of(tops);
}

void TableModel::add_matches(int parent, std::vector<int>& rows) const {
  for (const int row : shown(parent)) {
    if (matches_[as_index(row)] != 0)
      rows.push_back(row);
    else
      add_matches(row, rows);
  }
}

TableModel::Totals TableModel::totals() const {
  std::vector<int> rows;
  add_matches(-1, rows);
  return totals_of(rows);
}

QString TableModel::item_count_text(std::size_t count) const {
  if (!counted_.part.isEmpty() && count != parents_.size())
    return counted_.part.arg(count_text(count), count_text(parents_.size()));
  return counted_text(count, counted_.one, counted_.several);
}

QString TableModel::totals_text(const Totals& totals) const {
  QStringList parts{item_count_text(totals.things)};
  for (std::size_t c = 0; c < columns().size(); ++c) {
    const Column& column = columns()[c];
    const auto& value = totals.by_column[c];
    if (!value || *value == 0) continue;
    parts << (number_text(column, value) + u' ' + column.total_title).trimmed();
  }
  return parts.join(QStringLiteral(" · "));
}

QString TableModel::exported(int row, int column) const {
  const Column& c = columns()[as_index(column)];
  return c.unit == Unit::text ? text(row, column) : raw_text(c, number(row, column));
}

QString TableModel::exported_title(int column) const {
  return raw_title(columns()[as_index(column)]);
}

QString TableModel::tsv(std::span<const int> rows) const {
  QString out;
  const auto add_line = [&](auto cell) {
    for (int column = 0; column < columnCount(); ++column)
      out += (column == 0 ? QString() : QStringLiteral("\t")) + one_line(cell(column));
    out += u'\n';
  };
  add_line([&](int column) { return exported_title(column); });
  for (const int row : rows) add_line([&](int column) { return exported(row, column); });
  return out;
}

QModelIndex TableModel::index(int row, int column, const QModelIndex& parent) const {
  if (row < 0 || column < 0 || column >= columnCount() || parent.column() > 0) return {};
  const auto rows = shown(parent.isValid() ? row_at(parent) : -1);
  if (as_index(row) >= rows.size()) return {};
  return createIndex(row, column, static_cast<quintptr>(rows[as_index(row)]));
}

QModelIndex TableModel::parent(const QModelIndex& index) const {
  if (!index.isValid()) return {};
  return index_of(parents_[as_index(row_at(index))]);
}

int TableModel::rowCount(const QModelIndex& parent) const {
  if (parent.column() > 0) return 0;
  return static_cast<int>(shown(parent.isValid() ? row_at(parent) : -1).size());
}

int TableModel::columnCount(const QModelIndex& /*parent*/) const {
  return static_cast<int>(columns().size());
}

bool TableModel::hasChildren(const QModelIndex& parent) const {
  return rowCount(parent) > 0;
}

QString TableModel::tooltip(int row, int column) const {
  const Column& c = columns()[as_index(column)];
  QStringList lines;
  if (c.unit == Unit::text)
    lines << text(row, column);
  else if (const auto value = number(row, column))
    lines << exact_text(c, *value);
  lines << note(row, column) << c.meaning;
  lines.removeAll(QString());
  return lines.join(u'\n');
}

QVariant TableModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const int row = row_at(index), column = index.column();
  const Column& c = columns()[as_index(column)];
  switch (role) {
    case Qt::DisplayRole:
      return c.unit == Unit::text ? text(row, column) : number_text(c, number(row, column));
    case Qt::TextAlignmentRole:
      return static_cast<int>((c.unit == Unit::text ? Qt::AlignLeft : Qt::AlignRight) |
                              Qt::AlignVCenter);
    case Qt::ToolTipRole:
      return tooltip(row, column);
    case Qt::DecorationRole:
      return decoration(row, column);
    case alarm_role:
      return is_alarm(row);
    case raw_role: {
      if (c.unit == Unit::text) return text(row, column);
      const auto value = number(row, column);
      return value ? QVariant(static_cast<qlonglong>(*value)) : QVariant();
    }
    case bar_role: {
      const auto value = number(row, column);
      if (c.unit != Unit::share || c.whole <= 0 || !value) return {};
      return std::clamp(static_cast<double>(*value) / static_cast<double>(c.whole), 0.0, 1.0);
    }
    default:
      return {};
  }
}

QVariant TableModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= columnCount()) return {};
  const Column& c = columns()[as_index(section)];
  switch (role) {
    case Qt::DisplayRole:
      return c.title;
    case Qt::ToolTipRole:
      return c.meaning;
    case Qt::InitialSortOrderRole:  // the first click shows the largest numbers
      return static_cast<int>(c.unit == Unit::text ? Qt::AscendingOrder : Qt::DescendingOrder);
    case Qt::TextAlignmentRole:
      return static_cast<int>((c.unit == Unit::text ? Qt::AlignLeft : Qt::AlignRight) |
                              Qt::AlignVCenter);
    default:
      return {};
  }
}

}  // namespace jointer::views
