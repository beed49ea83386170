#include "views/graph/ladder_selection.h"

#include <algorithm>

namespace jointer::views {

LadderSelection::LadderSelection(Document& document, const LadderModel& model)
    : document_(document), model_(model) {
  connect(&document_.selection(), &Selection::nodes_changed, this, &LadderSelection::follow);
  connect(&document_.selection(), &Selection::hits_changed, this, [this] {
    refresh_marks();
    emit changed();
  });
  refresh_marks();
}

void LadderSelection::follow() {
  if (is_selecting_) return refresh_marks();
  focus_key_.clear();
  refresh_marks();
  emit selected_elsewhere();
  emit changed();
}

void LadderSelection::refresh_marks() {
  const Selection& selection = document_.selection();
  const Snapshot& snapshot = model_.snapshot();
  const LadderLayout& layout = model_.layout();
  const auto in_graph = [&](std::span<const NodeId> selected) {
    std::vector<NodeId> nodes(selected.begin(), selected.end());
    std::erase_if(
        nodes, [&](NodeId node) { return !node || node.index() >= snapshot.graph.node_count(); });
    return nodes;
  };
  const std::vector<NodeId> nodes = in_graph(selection.nodes());
  NodeId current = selection.current();
  if (current && current.index() >= snapshot.graph.node_count()) current = {};
  marks_ = make_marks(snapshot.graph, snapshot.users, model_.ladder(), layout, nodes, current);
  mark_hits(snapshot.graph, model_.ladder(), in_graph(selection.hits()), marks_);
  marks_.focus_row = focus_key_.empty() ? -1 : model_.ladder().find(focus_key_);
  marks_.focus_side = focus_side_;
  if (marks_.focus_row < 0 && marks_.current && marks_.current_place.item >= 0 &&
      marks_.current_place.node < 0) {
    marks_.focus_row = layout.item(marks_.current_place.item).row;
    marks_.focus_side = marks_.current_side;
  }
}

void LadderSelection::select(std::vector<NodeId> nodes, NodeId current,
                             Qt::KeyboardModifiers modifiers) {
  Selection& selection = document_.selection();
  is_selecting_ = true;
  if (modifiers.testFlag(Qt::ControlModifier) && nodes.size() == 1) {
    selection.toggle(nodes.front());
  } else {
    if (modifiers & (Qt::ControlModifier | Qt::ShiftModifier))
      nodes.insert(nodes.end(), selection.nodes().begin(), selection.nodes().end());
    selection.select_all(std::move(nodes), current);
  }
  is_selecting_ = false;
  refresh_marks();
  emit changed();
}

void LadderSelection::select_row(int row, LadderSide side, Qt::KeyboardModifiers modifiers) {
  focus_key_ = model_.ladder().row(row).key;
  focus_side_ = side;
  std::vector<NodeId> nodes = model_.ladder().nodes(row, side);
  std::vector<NodeId> calls;
  const Graph& graph = model_.snapshot().graph;
  std::copy_if(nodes.begin(), nodes.end(), std::back_inserter(calls),
               [&](NodeId id) { return graph.node(id).kind == NodeKind::call; });
  if (!calls.empty()) nodes = std::move(calls);
  const NodeId first = nodes.empty() ? NodeId{} : nodes.front();
  select(std::move(nodes), first, modifiers);
}

void LadderSelection::select_node(NodeId node, Qt::KeyboardModifiers modifiers) {
  select_nodes({node}, node, modifiers);
}

void LadderSelection::select_nodes(std::vector<NodeId> nodes, NodeId current,
                                   Qt::KeyboardModifiers modifiers) {
  focus_key_.clear();
  select(std::move(nodes), current, modifiers);
}

void LadderSelection::select_link(std::size_t link, Qt::KeyboardModifiers modifiers) {
  const LadderLayout& layout = model_.layout();
  std::vector<NodeId> producers;
  for (const std::uint32_t rung : layout.link_rungs(layout.links()[link]))
    producers.push_back(model_.ladder().rungs()[rung].producer);
  const NodeId first = producers.front();
  select_nodes(std::move(producers), first, modifiers);
}

void LadderSelection::select_whole_row(int row) {
  focus_key_ = model_.ladder().row(row).key;
  focus_side_ = LadderSide::forward;
  std::vector<NodeId> nodes = model_.ladder().nodes(row);
  const NodeId first = nodes.empty() ? NodeId{} : nodes.front();
  select(std::move(nodes), first, {});
}

void LadderSelection::select_identical(int row, std::optional<NodeId> node) {
  const Ladder& ladder = model_.ladder();
  std::vector<NodeId> nodes;
  const LadderSide side = node ? side_of(model_.snapshot().graph.node(*node)) : focus_side_;
  const auto here = node ? ladder.boxes(row, side) : std::span<const NodeId>{};
  const auto index = node ? std::find(here.begin(), here.end(), *node) - here.begin() : 0;
  for (const int same : ladder.identical(row)) {
    if (!node) {
      const auto of_row = ladder.nodes(same);
      nodes.insert(nodes.end(), of_row.begin(), of_row.end());
    } else if (const auto boxes = ladder.boxes(same, side);
               static_cast<std::size_t>(index) < boxes.size()) {
      nodes.push_back(boxes[static_cast<std::size_t>(index)]);
    }
  }
  const NodeId current = node.value_or(nodes.empty() ? NodeId{} : nodes.front());
  select(std::move(nodes), current, {});
}

void LadderSelection::follow_flow(bool forward) {
  const NodeId current = document_.selection().current();
  if (model_.ladder().row_of(current) < 0) return;
  const Snapshot& snapshot = model_.snapshot();
  const auto next = forward ? snapshot.users.of(current) : snapshot.graph.inputs(current);
  if (!next.empty()) document_.selection().select(next.front());
}

}  // namespace jointer::views
