#include "views/sac/target_model.h"

namespace jointer::views {

TargetModel::TargetModel(QObject* parent) : TableModel({tr("1 change"), tr("%1 changes")}, parent) {
  set_columns({
      {.title = tr("change"),
       .meaning = tr("The new policy of the values, and their number if several change "
                     "together.")},
      {.title = tr("module"), .meaning = tr("Module that computes the values.")},
      {.title = tr("tensors"),
       .unit = Unit::count,
       .meaning = tr("Number of tensors that change.")},
      {.title = tr("bytes"),
       .unit = Unit::bytes,
       .meaning = tr("Memory that the values occupy if they are saved."),
       .adds_up = true},
      {.title = tr("peak"),
       .unit = Unit::bytes,
       .meaning = tr("Peak memory after this change and those above it.")},
      {.title = tr("step"),
       .unit = Unit::time,
       .meaning = tr("Step time after this change and those above it.")},
      {.title = tr("+ step"),
       .unit = Unit::time,
       .meaning = tr("Step time added by this change."),
       .adds_up = true},
  });
}

void TargetModel::set_list(const ChangeList& list, SnapshotPtr snapshot) {
  begin_rows();
  list_ = list;
  snapshot_ = std::move(snapshot);
  rows_.clear();
  for (std::size_t row = 0; row < list_.changes.size(); ++row)
    for (const NodeId node : list_.changes[row].move.nodes())
      rows_.emplace(node, static_cast<int>(row));
  set_rows(std::vector<int>(list_.changes.size(), -1));
}

std::optional<std::int64_t> TargetModel::number(int row, int column) const {
  const ListedChange& change = at(row);
  switch (column) {
    case count_column:
      return static_cast<std::int64_t>(change.move.nodes().size());
    case bytes_column:
      return change.move.bytes();
    case peak_column:
      return change.after.figures.peak_bytes;
    case step_column:
      return change.after.figures.step_ns;
    case time_column:
      return change.after.figures.step_ns - before(row).step_ns;
    default:
      return std::nullopt;
  }
}

QString TargetModel::text(int row, int column) const {
  if (column == change_column)
    return QString::fromStdString(to_text(at(row).move, snapshot_->graph));
  if (column == module_column) return QString::fromStdString(at(row).move.module);
  return {};
}

int TargetModel::row_of(NodeId node) const {
  const auto found = rows_.find(node);
  return found == rows_.end() ? -1 : found->second;
}

}  // namespace jointer::views
