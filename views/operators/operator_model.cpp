#include "views/operators/operator_model.h"

#include "views/session/text/node_text.h"

namespace jointer::views {
OperatorModel::OperatorModel(QObject* parent)
    : TableModel({tr("1 operator"), tr("%1 operators")}, parent) {
  set_columns({
      {.title = tr("operator"), .meaning = tr("Operator that the nodes call."), .max_width = 320},
      {.title = tr("count"),
       .unit = Unit::count,
       .meaning = tr("Number of nodes that call the operator."),
       .adds_up = true,
       .total_title = tr("nodes")},
      {.title = tr("time"),
       .unit = Unit::time,
       .meaning = tr("Total estimated device time of the nodes."),
       .adds_up = true},
      {.title = tr("share"),
       .unit = Unit::share,
       .meaning =
           tr("Estimated time as a share of the step time, or of the selected range. Streams "
              "overlap, so shares can add up to more than 100%."),
       .hide_priority = 1},
      {.title = tr("exposed"),
       .unit = Unit::time,
       .meaning = tr("Estimated time during which the compute stream waits for the nodes, or they "
                     "run after the last kernel."),
       .adds_up = true,
       .total_title = tr("exposed")},
      {.title = tr("output"),
       .unit = Unit::bytes,
       .meaning = tr("Total size of the tensors that the nodes return; views are counted in full."),
       .adds_up = true,
       .total_title = tr("output"),
       .hide_priority = 2},
      {.title = tr("FLOPs"),
       .unit = Unit::flops,
       .meaning =
           tr("Floating-point operations computed from shapes; a multiply-add counts as two."),
       .adds_up = true,
       .hide_priority = 3},
      {.title = tr("forward"),
       .unit = Unit::count,
       .meaning = tr("Number of nodes in the forward."),
       .hide_priority = 4},
      {.title = tr("backward"),
       .unit = Unit::count,
       .meaning = tr("Number of nodes in the backward, including recomputed ones."),
       .hide_priority = 5},
  });
}

void OperatorModel::set_snapshot(SnapshotPtr snapshot, RangeFiguresPtr figures) {
  begin_rows();
  snapshot_ = std::move(snapshot);
  const Graph& graph = snapshot_->graph;
  const Analysis& analysis = snapshot_->analysis;
  figures_ = figures ? std::move(figures) : whole_step_figures(*snapshot_);
  column_at(share_column).whole = figures_->range().length();
  rows_.clear();
  row_by_operator_.assign(graph.operator_count(), -1);
  for (const NodeId id : graph.order()) {
    const Node& n = graph.node(id);
    if (n.kind != NodeKind::call || !figures_->contains(id)) continue;
    int& at = row_by_operator_[n.target.index()];
    if (at < 0) {
      at = static_cast<int>(rows_.size());
      rows_.push_back({.op = n.target, .is_asynchronous = graph.is_asynchronous(n)});
    }
    Row& row = rows_[static_cast<std::size_t>(at)];
    ++row.count;
    if (n.phase == Phase::forward) ++row.forward;
    row.bytes += graph.output_bytes(n);
    row.ns += figures_->ns(id);
    row.flops += analysis.flops[id.index()].total;
    row.exposed_ns += figures_->exposed_ns(id);
  }
  set_rows(std::vector<int>(rows_.size(), -1));
}

std::optional<std::int64_t> OperatorModel::number(int row, int column) const {
  const Row& r = rows_[static_cast<std::size_t>(row)];
  switch (column) {
    case count_column:
      return r.count;
    case forward_column:
      return r.forward;
    case backward_column:
      return r.count - r.forward;
    case bytes_column:
      return r.bytes;
    case time_column:
    case share_column:
      return r.ns;
    case flops_column:
      return r.flops;
    case exposed_column:
      return r.is_asynchronous ? std::optional(r.exposed_ns) : std::nullopt;
    default:
      return std::nullopt;
  }
}

QString OperatorModel::text(int row, int /*column*/) const {
  return to_qstring(snapshot_->graph.op(rows_[static_cast<std::size_t>(row)].op).name);
}

QString OperatorModel::note(int /*row*/, int column) const {
  if (column != time_column && column != share_column) return {};
  return tr("Estimator: %1").arg(to_qstring(snapshot_->analysis.estimator));
}

std::uint64_t OperatorModel::key(int row) const {
  return std::hash<std::string>{}(
      snapshot_->graph.op(rows_[static_cast<std::size_t>(row)].op).name);
}

std::vector<NodeId> OperatorModel::nodes(int row) const {
  const Graph& graph = snapshot_->graph;
  std::vector<NodeId> nodes;
  for (const NodeId id : graph.order())
    if (row_of(id) == row) nodes.push_back(id);
  return nodes;
}

int OperatorModel::row_of(NodeId node) const {
  const Node& n = snapshot_->graph.node(node);
  const bool is_shown = n.kind == NodeKind::call && figures_->contains(node);
  return is_shown ? row_by_operator_[n.target.index()] : -1;
}

}  // namespace jointer::views
