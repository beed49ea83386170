#include "views/find/hit_list.h"

#include <algorithm>

#include "views/session/text/node_text.h"
#include "views/session/text/number_text.h"

namespace jointer::views {
namespace {

constexpr int kHeight = 150, kMinHeight = 48;

}  // namespace

HitModel::HitModel(QObject* parent) : TableModel({tr("1 node"), tr("%1 nodes")}, parent) {
  set_columns({
      {.title = tr("node")},
      {.title = tr("operator")},
      {.title = tr("module")},
      {.title = tr("call"),
       .unit = Unit::step,
       .meaning = tr("Number of the call, counted from 0 in the order in which calls run.")},
      {.title = tr("time"),
       .unit = Unit::time,
       .meaning = tr("Estimated device time."),
       .adds_up = true},
      {.title = tr("output"),
       .unit = Unit::bytes,
       .meaning = tr("Size of the node's outputs; views are counted in full."),
       .adds_up = true},
  });
}

void HitModel::set_nodes(SnapshotPtr snapshot, std::vector<NodeId> nodes) {
  begin_rows();
  snapshot_ = std::move(snapshot);
  nodes_ = std::move(nodes);
  set_rows(std::vector<int>(nodes_.size(), -1));
}

std::optional<std::int64_t> HitModel::number(int row, int column) const {
  const NodeId node = nodes_[static_cast<std::size_t>(row)];
  const auto call = snapshot_->analysis.memory.step_of(node);
  switch (column) {
    case call_column:
      return call ? std::optional(static_cast<std::int64_t>(*call)) : std::nullopt;
    case time_column:
      return snapshot_->analysis.costs[node.index()].ns;
    case bytes_column:
      return snapshot_->graph.output_bytes(snapshot_->graph.node(node));
    default:
      return std::nullopt;
  }
}

QString HitModel::text(int row, int column) const {
  const NodeId node = nodes_[static_cast<std::size_t>(row)];
  const Graph& graph = snapshot_->graph;
  switch (column) {
    case name_column:
      return to_qstring(graph.name(node));
    case operator_column:
      return graph.node(node).kind == NodeKind::call ? to_qstring(graph.target(graph.node(node)))
                                                     : QString();
    case module_column: {
      const ModuleTree& modules = snapshot_->analysis.modules;
      return to_qstring(modules.module(modules.of(node)).path);
    }
    default:
      return {};
  }
}

int HitModel::row_of(NodeId node) const {
  const auto at = std::ranges::find(nodes_, node);
  return at == nodes_.end() ? -1 : static_cast<int>(at - nodes_.begin());
}

HitList::HitList(QWidget* parent) : HitList(new HitModel, parent) {}

HitList::HitList(HitModel* model, QWidget* parent) : TableView(*model, parent), model_(model) {
  model->setParent(this);
  setObjectName(QStringLiteral("hits"));
  setAccessibleName(tr("Matches"));
  set_flat();
  setSelectionMode(QAbstractItemView::SingleSelection);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Maximum);  // shrinks if the window is small
  setMinimumHeight(kMinHeight);
  connect(this, &TableView::rows_chosen, this, [this] {
    for (const int row : selected_rows()) emit node_chosen(model_->nodes(row).front());
  });
}

void HitList::show_nodes(const SnapshotPtr& snapshot, const std::vector<NodeId>& nodes) {
  if (model_->shows(snapshot, nodes)) return;
  model_->set_nodes(snapshot, nodes);
  if (!is_fitted_ && !nodes.empty()) fit_columns();
  is_fitted_ = is_fitted_ || !nodes.empty();
}

QSize HitList::sizeHint() const {
  return {TableView::sizeHint().width(), kHeight};
}

}  // namespace jointer::views
