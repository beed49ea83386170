#include "views/history/history_model.h"

namespace jointer::views {

HistoryModel::HistoryModel(Counted counted, const QString& change, QObject* parent)
    : TableModel(std::move(counted), parent) {
  set_columns({
      {.title = tr("#"),
       .meaning = tr("Number of history entries up to this state; ▸ marks the current state.")},
      {.title = tr("action"),
       .meaning = tr("Edit or pass that led to this state."),
       .max_width = 240},
      {.title = tr("by"),
       .meaning = tr("You, or the pass, preset, search or import that made the edit."),
       .hide_priority = 2},
      {.title = tr("Δ peak"),
       .unit = Unit::bytes,
       .meaning = tr("Change in peak memory relative to %1.").arg(change)},
      {.title = tr("Δ exposed"),
       .unit = Unit::time,
       .meaning = tr("Change in exposed time relative to %1.").arg(change),
       .hide_priority = 1},
      {.title = tr("Δ step"),
       .unit = Unit::time,
       .meaning = tr("Change in step time relative to %1.").arg(change)},
      {.title = tr("peak"),
       .unit = Unit::bytes,
       .meaning = tr("Peak memory in this state."),
       .hide_priority = 4},
      {.title = tr("exposed"),
       .unit = Unit::time,
       .meaning = tr("Exposed time in this state."),
       .hide_priority = 5},
      {.title = tr("step"),
       .unit = Unit::time,
       .meaning = tr("Step time in this state."),
       .hide_priority = 3},
  });
}

void HistoryModel::show_names() {
  column_at(title_column).title = tr("name");
  column_at(title_column).meaning = tr("Name of the state.");
}

void HistoryModel::set(std::vector<Row> rows) {
  begin_rows();
  rows_ = std::move(rows);
  set_rows(std::vector<int>(rows_.size(), -1));
}

std::optional<std::int64_t> HistoryModel::number(int row, int column) const {
  const Row& r = at(row);
  if (!r.figures) return std::nullopt;
  const auto change = [&](std::int64_t Figures::*value) -> std::optional<std::int64_t> {
    if (!r.before) return std::nullopt;
    return *r.figures.*value - *r.before.*value;
  };
  switch (column) {
    case peak_change_column:
      return change(&Figures::peak_bytes);
    case exposed_change_column:
      return change(&Figures::exposed_ns);
    case step_change_column:
      return change(&Figures::step_ns);
    case peak_column:
      return r.figures->peak_bytes;
    case exposed_column:
      return r.figures->exposed_ns;
    case step_column:
      return r.figures->step_ns;
    default:
      return std::nullopt;
  }
}

QString HistoryModel::text(int row, int column) const {
  const Row& r = at(row);
  switch (column) {
    case place_column:
      return (r.is_current ? QStringLiteral("▸ ") : QString()) + r.place;
    case title_column: {
      const QString title = r.drops_order ? tr("(drops the order) %1").arg(r.title) : r.title;
      return r.is_undone ? tr("(undone) %1").arg(title) : title;
    }
    case by_column:
      return r.by;
    default:
      return {};
  }
}

QString HistoryModel::note(int row, int column) const {
  if (column == title_column) return at(row).notes.join(u'\n');
  return at(row).about;
}

}  // namespace jointer::views
