#include "views/differences/difference_model.h"

#include "views/session/text/node_text.h"

namespace jointer::views {

DifferenceModel::DifferenceModel(QObject* parent)
    : NamedRowsModel({tr("1 change"), tr("%1 changes")}, node_column, parent) {
  set_columns({
      {.title = tr("change"), .meaning = tr("How the node differs between the two states.")},
      {.title = tr("node"),
       .meaning = tr("Name of the node in the second state, or in the first if it was removed.")},
      {.title = tr("shift"),
       .unit = Unit::step,
       .meaning = tr(
           "Number of positions by which the node moved: positive if later, negative if earlier.")},
      {.title = tr("details"),
       .meaning = tr("Origin of an added node, replacement of a removed node, or what changed in "
                     "a node apart from its position.")},
      {.title = tr("operator"), .meaning = tr("Operator that the node calls.")},
      {.title = tr("module"), .meaning = tr("Module to which the node belongs.")},
      {.title = tr("bytes"),
       .unit = Unit::bytes,
       .meaning = tr("Size of the node's outputs; views are counted in full."),
       .adds_up = true},
  });
}

void DifferenceModel::set(NodeDifferencesPtr differences, const SnapshotPtr& shown) {
  if (differences == differences_) return set_shown(shown);
  begin_rows();
  differences_ = std::move(differences);
  std::vector<std::string> names;
  if (differences_)
    for (const NodeDifference& node : differences_->nodes())
      names.push_back(edit_name(differences_->graph_of(node), node.node));
  const std::size_t count = names.size();
  set_names(NamedRows(std::move(names)), shown);
  set_rows(std::vector<int>(count, -1));
}

void DifferenceModel::show_only(std::optional<NodeChange> change) {
  if (std::exchange(only_, change) == change) return;
  refilter();
}

std::optional<std::int64_t> DifferenceModel::number(int row, int column) const {
  const NodeDifference& node = at(row);
  if (column == places_column && node.change == NodeChange::moved) return node.places;
  if (column != bytes_column) return std::nullopt;
  const Graph& graph = differences_->graph_of(node);
  return graph.output_bytes(graph.node(node.node));
}

QString DifferenceModel::text(int row, int column) const {
  const NodeDifference& node = at(row);
  const Graph& graph = differences_->graph_of(node);
  switch (column) {
    case change_column:
      return change_text(node.change);
    case node_column:
      return to_qstring(graph.name(node.node));
    case operator_column:
      return to_qstring(graph.target(graph.node(node.node)));
    case module_column:
      return to_qstring(differences_->module_of(node).path);
    case detail_column:
      return differences_->detail(node);
    default:
      return {};
  }
}

std::uint64_t DifferenceModel::key(int row) const {
  const NodeDifference& node = at(row);
  return (std::uint64_t{node.node.value()} << 1U) | (node.change == NodeChange::removed ? 1U : 0U);
}

}  // namespace jointer::views
