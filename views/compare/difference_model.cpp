#include "views/compare/difference_model.h"

#include "views/document/node_text.h"
#include "views/document/number_text.h"

namespace jointer::views {

DifferenceModel::DifferenceModel(QObject* parent) : TableModel(parent) {
  columns_ = {
      {.title = tr("change"), .meaning = tr("What became of the node.")},
      {.title = tr("node"), .meaning = tr("Its name, in the second state.")},
      {.title = tr("operator"), .meaning = tr("What it calls.")},
      {.title = tr("module"), .meaning = tr("The module that called it.")},
      {.title = tr("places"),
       .unit = Unit::step,
       .meaning = tr("How many places later it runs; below zero, earlier.")},
      {.title = tr("bytes"),
       .unit = Unit::bytes,
       .meaning = tr("What it returns, views counted in full."),
       .adds_up = true},
  };
}

void DifferenceModel::set(std::shared_ptr<const Comparison> comparison) {
  begin_rows();
  comparison_ = std::move(comparison);
  rows_.clear();
  const std::size_t count = comparison_ ? comparison_->nodes.size() : 0;
  for (std::size_t i = 0; i < count; ++i)
    if (comparison_->nodes[i].change != NodeChange::removed)
      rows_.emplace(comparison_->nodes[i].node, static_cast<int>(i));
  set_rows(std::vector<int>(count, -1));
}

std::optional<std::int64_t> DifferenceModel::number(int row, int column) const {
  const NodeDifference& node = at(row);
  if (column == places_column && node.change == NodeChange::moved) return node.places;
  if (column != bytes_column) return std::nullopt;
  const Graph& graph = comparison_->graph_of(node);
  return graph.output_bytes(graph.node(node.node));
}

QString DifferenceModel::text(int row, int column) const {
  const NodeDifference& node = at(row);
  const Graph& graph = comparison_->graph_of(node);
  switch (column) {
    case change_column:
      return change_text(node.change);
    case node_column:
      return to_qstring(graph.name(node.node));
    case operator_column:
      return to_qstring(graph.target(graph.node(node.node)));
    case module_column: {
      const ModuleTree& modules = node.change == NodeChange::removed
                                      ? comparison_->from.snapshot->analysis.modules
                                      : comparison_->to.snapshot->analysis.modules;
      return QString::fromStdString(modules.module(modules.of(node.node)).path);
    }
    default:
      return {};
  }
}

std::uint64_t DifferenceModel::key(int row) const {
  const NodeDifference& node = at(row);
  return (std::uint64_t{node.node.value()} << 1U) | (node.change == NodeChange::removed ? 1U : 0U);
}

std::vector<NodeId> DifferenceModel::nodes(int row) const {
  if (at(row).change == NodeChange::removed) return {};
  return {at(row).node};
}

int DifferenceModel::row_of(NodeId node) const {
  const auto found = rows_.find(node);
  return found == rows_.end() ? -1 : found->second;
}

QString DifferenceModel::things_text(std::size_t things) const {
  return things == 1 ? tr("1 node") : tr("%1 nodes").arg(count_text(things));
}

}  // namespace jointer::views
