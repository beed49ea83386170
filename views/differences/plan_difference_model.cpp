#include "views/differences/plan_difference_model.h"

#include <functional>

#include "views/session/text/node_text.h"
#include "views/session/text/number_text.h"

namespace jointer::views {

PlanDifferenceModel::PlanDifferenceModel(QObject* parent) : TableModel(parent) {
  columns_ = {
      {.title = tr("value"), .meaning = tr("Value of the forward that the backward uses.")},
      {.title = tr("change"),
       .meaning = tr("How the first and the second plan keep it. Not needed: neither the backward "
                     "nor a recomputed call reads it."),
       .max_width = 220},
      {.title = tr("Δ saved"),
       .unit = Unit::bytes,
       .meaning = tr("Change of the device memory for saved values. A storage counts once."),
       .adds_up = true,
       .total_title = tr("saved")},
      {.title = tr("Δ host"),
       .unit = Unit::bytes,
       .meaning = tr("Change of the host memory for offloaded values."),
       .adds_up = true,
       .total_title = tr("on the host")},
      {.title = tr("Δ recompute"),
       .unit = Unit::time,
       .meaning = tr("Change of the time of calls that run a second time."),
       .adds_up = true,
       .total_title = tr("recomputed")},
      {.title = tr("operator"), .meaning = tr("Operator that returns the value.")},
      {.title = tr("module"), .meaning = tr("Module that the value belongs to.")},
  };
}

void PlanDifferenceModel::set(PlanChangesPtr changes, const SnapshotPtr& shown) {
  if (changes == changes_) return names_.set_shown(shown);
  begin_rows();
  changes_ = std::move(changes);
  names_ = {};
  names_.set_shown(shown);
  make_rows();
}

void PlanDifferenceModel::set_grouping(Grouping grouping) {
  if (grouping == grouping_) return;
  begin_rows();
  grouping_ = grouping;
  make_rows();
}

void PlanDifferenceModel::make_rows() {
  const SnapshotPtr shown = names_.shown();
  rows_.clear();
  std::vector<int> parents;
  std::vector<std::string> names;
  const auto add = [&](Row row, int parent) {
    names.push_back(row.group.isEmpty() ? changes_->difference.rows[row.values.front()].name
                                        : std::string());
    rows_.push_back(std::move(row));
    parents.push_back(parent);
  };
  const auto add_leaf = [&](std::size_t index, int parent) {
    add({.values = {index}, .group = {}, .change = changes_->difference.rows[index].change},
        parent);
  };
  if (changes_ && grouping_) {
    for (PlanChangeGroup& group : groups(changes_->difference, *grouping_)) {
      const auto parent = static_cast<int>(rows_.size());
      const std::vector<std::size_t> values = group.rows;
      add({.values = std::move(group.rows),
           .group = QString::fromStdString(group.name),
           .change = group.change},
          -1);
      for (const std::size_t index : values) add_leaf(index, parent);
    }
  } else if (changes_) {
    for (std::size_t i = 0; i < changes_->difference.rows.size(); ++i) add_leaf(i, -1);
  }
  names_ = NamedRows(std::move(names));
  names_.set_shown(shown);
  set_rows(std::move(parents));
}

std::optional<std::int64_t> PlanDifferenceModel::number(int row, int column) const {
  const PlanAmounts& change = at(row).change;
  const auto unless_zero = [](std::int64_t number) {
    return number != 0 ? std::optional(number) : std::nullopt;
  };
  switch (column) {
    case saved_column:
      return unless_zero(change.saved_bytes);
    case host_column:
      return unless_zero(change.offloaded_bytes);
    case time_column:
      return unless_zero(change.recompute_ns);
    default:
      return std::nullopt;
  }
}

QString PlanDifferenceModel::text(int row, int column) const {
  const Row& r = at(row);
  const bool is_group = !r.group.isEmpty();
  const PlanChangeRow& first = value(row);
  switch (column) {
    case name_column:
      return is_group ? r.group : QString::fromStdString(first.name);
    case change_column:
      return is_group ? views::counts_text(changes_->difference, r.values) : transition_text(first);
    case operator_column:
      return is_group ? QString() : QString::fromStdString(first.target);
    case module_column:
      return is_group ? QString() : QString::fromStdString(first.module);
    default:
      return {};
  }
}

QString PlanDifferenceModel::note(int row, int column) const {
  if (column == change_column) return text(row, column);
  if (column != name_column || !names_.is_gone(row)) return {};
  return tr("Not in the current graph.");
}

std::uint64_t PlanDifferenceModel::key(int row) const {
  const bool is_group = !at(row).group.isEmpty();
  return (std::hash<QString>()(text(row, name_column)) << 1U) | (is_group ? 1U : 0U);
}

std::vector<NodeId> PlanDifferenceModel::nodes(int row) const {
  std::vector<NodeId> nodes;
  if (!names_.shown()) return nodes;
  for (const std::size_t index : at(row).values)
    if (const NodeId node = names_.shown()->graph.find(changes_->difference.rows[index].name))
      nodes.push_back(node);
  return nodes;
}

int PlanDifferenceModel::row_of(NodeId node) const {
  return names_.row_of(node);
}

std::size_t PlanDifferenceModel::things(int row) const {
  return at(row).values.size();
}

QString PlanDifferenceModel::things_text(std::size_t things) const {
  return things == 1 ? tr("1 value") : tr("%1 values").arg(count_text(things));
}

}  // namespace jointer::views
