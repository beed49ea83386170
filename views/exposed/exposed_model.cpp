#include "views/exposed/exposed_model.h"

#include <utility>

#include "core/base/index.h"
#include "core/cost/collective_model.h"
#include "core/schedule/exposure_reason.h"
#include "views/session/edit/metrics.h"
#include "views/session/text/node_text.h"
#include "views/session/text/number_text.h"
#include "views/session/text/ranks_text.h"

namespace jointer::views {
namespace {

constexpr int kMaxName = 320;

bool is_of_fix(int column) {
  return column >= ExposedModel::alone_column && column <= ExposedModel::layers_peak_column;
}

FixKind kind_of(int column) {
  return static_cast<FixKind>((column - ExposedModel::alone_column) / 2);
}

bool is_peak(int column) {
  return is_of_fix(column) && (column - ExposedModel::alone_column) % 2 == 1;
}

}  // namespace

ExposedModel::ExposedModel(QObject* parent)
    : TableModel({tr("1 collective"), tr("%1 collectives")}, parent) {
  const QString peak = tr("Change in peak memory due to the move in the previous column.");
  std::vector<Column> columns{
      {.title = tr("collective"),
       .meaning = tr("Node that starts the collective."),
       .max_width = kMaxName},
      {.title = tr("exposed"),
       .unit = Unit::time,
       .meaning = tr(
           "Estimated time during which the compute stream waits for the collective, or the "
           "collective runs after the last kernel. Each moment counts toward only one collective."),
       .adds_up = true,
       .total_title = tr("exposed")},
      {.title = tr("share"),
       .unit = Unit::share,
       .meaning = tr("Exposed time as a share of the step time.")}};
  const auto fix = [&](const QString& title, const QString& meaning) {
    columns.push_back({.title = title, .unit = Unit::time, .meaning = meaning});
    columns.push_back({.title = tr("%1, peak").arg(title), .unit = Unit::bytes, .meaning = peak});
  };
  fix(tr("alone"),
      tr("Reduction in step time if only the start and the wait move to their best positions."));
  fix(tr("chain"),
      tr("Reduction in step time if the start and the wait move to their best positions together "
         "with their chains: the cheap nodes that feed the start and those that read the wait."));
  fix(tr("layers"),
      tr("Reduction in step time if the better of the moves “alone” and “chain” is made "
         "in all identical layers."));
  const auto add = [&](Column column) { columns.push_back(std::move(column)); };
  add({.title = tr("why"), .meaning = tr("Why the collective is exposed in the simulated step.")});
  add({.title = tr("time"),
       .unit = Unit::time,
       .meaning = tr("Estimated time from the start of the collective to its end."),
       .adds_up = true,
       .total_title = tr("of communication")});
  add({.title = tr("message"),
       .unit = Unit::bytes,
       .meaning =
           tr("Size of a rank's input or output, whichever is larger; for a copy, the size of "
              "its output.")});
  add({.title = tr("kind")});
  add({.title = tr("group"), .meaning = tr("Process group and its number of ranks.")});
  add({.title = tr("module"),
       .meaning = tr("Innermost module or source line that calls the collective.")});
  add({.title = tr("phase")});
  set_columns(std::move(columns));
}

void ExposedModel::set_snapshot(SnapshotPtr snapshot) {
  begin_rows();
  snapshot_ = std::move(snapshot);
  places_ = ModuleLocations(snapshot_->graph, snapshot_->analysis.modules);
  column_at(module_column).title = places_.are_source_lines() ? tr("source line") : tr("module");
  column_at(share_column).whole = snapshot_->analysis.simulation.step_ns();
  make_rows();
}

void ExposedModel::set_show_hidden(bool shown) {
  if (std::exchange(shows_hidden_, shown) == shown || !snapshot_) return;
  begin_rows();
  make_rows();
}

void ExposedModel::make_rows() {
  const auto collectives = snapshot_->analysis.simulation.collectives();
  rows_.clear();
  row_by_collective_.assign(collectives.size(), -1);
  for (std::size_t i = 0; i < collectives.size(); ++i) {
    if (!collectives[i].is_exposed() && !shows_hidden_) continue;
    row_by_collective_[i] = static_cast<int>(rows_.size());
    rows_.push_back(i);
  }
  fixes_.assign(rows_.size(), nullptr);
  set_rows(std::vector<int>(rows_.size(), -1));
}

void ExposedModel::set_fixes(NodeId start, CollectiveFixesPtr fixes) {
  const int row = row_of(start);
  if (row < 0) return;
  fixes_[as_index(row)] = std::move(fixes);
  emit dataChanged(index_of(row, alone_column), index_of(row, layers_peak_column));
  sort_by_fixes();
}

void ExposedModel::set_all_fixes(const std::function<CollectiveFixesPtr(NodeId start)>& find) {
  bool is_any_known = false;
  for (int row = 0; row < row_count(); ++row) {
    CollectiveFixesPtr known = find(collective(row).start);
    if (!known) continue;
    fixes_[as_index(row)] = std::move(known);
    is_any_known = true;
  }
  if (!is_any_known) return;
  emit_cells_changed();
  sort_by_fixes();
}

void ExposedModel::sort_by_fixes() {
  for (int column = alone_column; column <= layers_peak_column; ++column) sort_again(column);
}

const CollectiveTiming& ExposedModel::collective(int row) const {
  return snapshot_->analysis.simulation.collectives()[rows_[as_index(row)]];
}

std::optional<std::int64_t> ExposedModel::number(int row, int column) const {
  const CollectiveTiming& c = collective(row);
  if (is_of_fix(column)) {
    const CollectiveFixesPtr& known = fixes(row);
    if (!known || !known->of(kind_of(column)).edit) return std::nullopt;
    return is_peak(column) ? known->peak_change(kind_of(column))
                           : known->gained_ns(kind_of(column));
  }
  switch (column) {
    case exposed_column:
    case share_column:
      return c.exposed_ns;
    case time_column:
      return c.end_ns - c.start_ns;
    case bytes_column: {
      const Node& start = snapshot_->graph.node(c.start);
      return c.is_transfer ? snapshot_->graph.output_bytes(start)
                           : collective_bytes(snapshot_->graph, start);
    }
    default:
      return std::nullopt;
  }
}

QString ExposedModel::text(int row, int column) const {
  const CollectiveTiming& c = collective(row);
  const Graph& graph = snapshot_->graph;
  const Node& start = graph.node(c.start);
  switch (column) {
    case name_column:
      return to_qstring(graph.name(c.start));
    case why_column:
      return c.is_exposed() ? to_qstring(exposure_text(
                                  graph, snapshot_->analysis.simulation, c,
                                  [&](NodeId node) { return std::string(graph.name(node)); }))
                            : tr("hidden");
    case kind_column:
      return c.is_transfer ? to_qstring(graph.target(start))
                           : to_qstring(to_string(graph.op(start).collective));
    case group_column: {
      if (c.is_transfer) return {};
      const std::optional<std::int64_t> size = known_group_size(graph, start);
      const std::optional<std::int64_t> assumed = assumed_ranks(graph, start.group);
      return (c.group ? to_qstring(graph.group_label(c.group)) + QStringLiteral(" · ")
                      : QString()) +
             (size      ? counted_text(*size, tr("1 rank"), tr("%1 ranks"))
              : assumed ? counted_text(*assumed, tr("1 rank assumed"), tr("%1 ranks assumed"))
                        : tr("size unknown"));
    }
    case module_column:
      return to_qstring(places_.all()[as_index(places_.of(c.start))].path);
    case phase_column:
      return phase_text(start);
    default:
      return {};
  }
}

QString ExposedModel::note(int row, int column) const {
  const Graph& graph = snapshot_->graph;
  if (column == group_column && !collective(row).is_transfer)
    return tr("ranks: %1").arg(ranks_text(graph, graph.node(collective(row).start)));
  if (column == name_column) return to_qstring(graph.target(graph.node(collective(row).start)));
  if (!is_of_fix(column) || !fixes(row)) return {};
  const CollectiveFix& fix = fixes(row)->of(kind_of(column));
  return to_qstring(fix.edit ? fix.edit->title : fix.why_not);
}

std::vector<NodeId> ExposedModel::nodes(int row) const {
  const CollectiveTiming& c = collective(row);
  return c.wait ? std::vector{c.start, c.wait} : std::vector{c.start};
}

int ExposedModel::row_of(NodeId node) const {
  if (!snapshot_ || node.index() >= snapshot_->graph.node_count()) return -1;
  const std::int32_t index = snapshot_->analysis.simulation.collective_of(node);
  return index < 0 ? -1 : row_by_collective_[as_index(index)];
}

QString ExposedModel::fix_text(int row, int column) const {
  if (!fixes(row)) return QStringLiteral("…");
  const std::optional<std::int64_t> value = number(row, column);
  if (!value) return QStringLiteral("–");
  return is_peak(column) ? bytes_difference_text(0, *value) : time_text(*value);
}

QVariant ExposedModel::data(const QModelIndex& index, int role) const {
  if (role == Qt::DisplayRole && index.isValid() && is_of_fix(index.column()))
    return fix_text(row_at(index), index.column());
  return TableModel::data(index, role);
}

}  // namespace jointer::views
