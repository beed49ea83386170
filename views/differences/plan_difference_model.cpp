#include "views/differences/plan_difference_model.h"

#include <functional>

#include "core/graph/layers.h"
#include "views/session/text/node_text.h"
#include "views/tables/folded_name.h"

namespace jointer::views {

PlanDifferenceModel::PlanDifferenceModel(QObject* parent)
    : NamedRowsModel({tr("1 value"), tr("%1 values")}, name_column, parent) {
  set_columns({
      {.title = tr("value"),
       .meaning = tr("Forward value whose policy, bytes or recomputation time changed.")},
      {.title = tr("change"),
       .meaning = tr("The value's policy in the first and the second plan. “not needed” means that "
                     "neither the backward nor a recomputed call reads the value."),
       .max_width = 220},
      {.title = tr("Δ saved"),
       .unit = Unit::bytes,
       .meaning = tr("Change in device memory for saved values. A storage counts once."),
       .adds_up = true,
       .total_title = tr("saved")},
      {.title = tr("Δ host"),
       .unit = Unit::bytes,
       .meaning = tr("Change in host memory for offloaded values."),
       .adds_up = true,
       .total_title = tr("on the host")},
      {.title = tr("Δ recompute"),
       .unit = Unit::time,
       .meaning = tr("Change in recomputation time."),
       .adds_up = true,
       .total_title = tr("recomputed")},
      {.title = tr("operator"), .meaning = tr("Operator that returns the value.")},
      {.title = tr("module"), .meaning = tr("Module to which the value belongs.")},
  });
}

void PlanDifferenceModel::set(PlanChangesPtr changes, const SnapshotPtr& shown) {
  if (changes == changes_) return set_shown(shown);
  begin_rows();
  changes_ = std::move(changes);
  make_rows(shown);
}

void PlanDifferenceModel::set_grouping(Grouping grouping) {
  if (grouping == grouping_) return;
  begin_rows();
  grouping_ = grouping;
  make_rows(names().shown());
}

void PlanDifferenceModel::add_row(Row row, int parent) {
  rows_.push_back(std::move(row));
  parents_.push_back(parent);
}

void PlanDifferenceModel::add_leaves(const std::vector<std::size_t>& values, int parent) {
  for (const std::size_t index : values)
    add_row({.values = {index}, .change = changes_->difference.rows[index].change}, parent);
}

void PlanDifferenceModel::add_layers(PlanChangeLayers layers) {
  const std::vector<PlanChangeRow>& all = changes_->difference.rows;
  const auto fold = static_cast<int>(rows_.size());
  const QString name = to_qstring(layers.all.name);
  const std::vector<std::size_t> values = layers.all.rows;
  add_row(
      {.values = std::move(layers.all.rows),
       .group = folded_name(name, static_cast<int>(layers.first), static_cast<int>(layers.members)),
       .change = layers.all.change,
       .key = name},
      -1);
  if (layers.entries.empty()) return add_leaves(values, fold);
  for (std::vector<std::size_t>& entry : layers.entries) {
    const auto parent = static_cast<int>(rows_.size());
    const PlanChangeRow& first = all[entry.front()];
    PlanAmounts change;
    for (const std::size_t index : entry) change += all[index].change;
    const std::vector<std::size_t> members = entry;
    add_row({.values = std::move(entry),
             .group = tr("%1  ×%2").arg(to_qstring(first.name), QString::number(members.size())),
             .change = change,
             .key = QStringLiteral("entry ") + to_qstring(first.name),
             .is_entry = true},
            fold);
    add_leaves(members, parent);
  }
}

void PlanDifferenceModel::make_rows(const SnapshotPtr& shown) {
  rows_.clear();
  parents_.clear();
  if (changes_ && grouping_ == PlanGrouping::layer) {
    for (PlanChangeLayers& layers : folded_layers(changes_->difference))
      add_layers(std::move(layers));
  } else if (changes_ && grouping_) {
    for (PlanChangeGroup& group : groups(changes_->difference, *grouping_)) {
      const auto parent = static_cast<int>(rows_.size());
      const std::vector<std::size_t> values = group.rows;
      add_row({.values = std::move(group.rows),
               .group = to_qstring(group.name),
               .change = group.change},
              -1);
      add_leaves(values, parent);
    }
  } else if (changes_) {
    for (std::size_t i = 0; i < changes_->difference.rows.size(); ++i) add_leaves({i}, -1);
  }
  std::vector<std::string> names;
  names.reserve(rows_.size());
  for (const Row& row : rows_)
    names.push_back(row.group.isEmpty() ? changes_->difference.rows[row.values.front()].name
                                        : std::string());
  set_names(NamedRows(std::move(names)), shown);
  set_rows(parents_);
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
      return is_group ? r.group : to_qstring(first.name);
    case change_column:
      return is_group ? views::counts_text(changes_->difference, r.values) : transition_text(first);
    case operator_column:
      return is_group && !r.is_entry ? QString() : to_qstring(first.target);
    case module_column:
      return r.is_entry ? to_qstring(path_in_any_layer(first.module))
             : is_group ? QString()
                        : to_qstring(first.module);
    default:
      return {};
  }
}

std::uint64_t PlanDifferenceModel::key(int row) const {
  const Row& r = at(row);
  const QString name = r.key.isEmpty() ? text(row, name_column) : r.key;
  return (std::hash<QString>()(name) << 1U) | (r.group.isEmpty() ? 0U : 1U);
}

std::vector<NodeId> PlanDifferenceModel::nodes(int row) const {
  std::vector<NodeId> nodes;
  if (!names().shown()) return nodes;
  for (const std::size_t index : at(row).values)
    if (const NodeId node = names().shown()->graph.find(changes_->difference.rows[index].name))
      nodes.push_back(node);
  return nodes;
}

}  // namespace jointer::views
