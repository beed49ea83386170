#include "passes/clean_up/substitution.h"

#include <algorithm>

#include "core/graph/replace_inputs.h"
namespace jointer {

Substitution::Substitution(Graph& graph)
    : graph_(graph),
      replacement_(graph.node_count()),
      is_returned_(graph.node_count(), false),
      storage_now_(graph.storage_count()) {
  // Even a half that was captured alone exchanges values with its other half by name.
  for (const NodeId id : graph.order()) {
    const Node& n = graph.node(id);
    if (n.kind == NodeKind::output && graph.part(n.part).kind == CaptureKind::forward)
      for (const NodeId input : graph.inputs(n)) is_returned_[input.index()] = true;
  }
}

bool Substitution::can_remove(NodeId node) const {
  return graph_.node(node).kind == NodeKind::call && !is_returned_[node.index()];
}

NodeId Substitution::now(NodeId node) const {
  while (replacement_[node.index()]) node = replacement_[node.index()];
  return node;
}

void Substitution::replace(NodeId node, NodeId by) {
  by = now(by);
  replacement_[node.index()] = by;
  gone_.push_back(node);
  join_storages(node, by);
}

// Replaces the storages of `node` with those of `by`.
void Substitution::join_storages(NodeId node, NodeId by) {
  const auto was = graph_.tensors(node), is = graph_.tensors(by);
  for (std::size_t i = 0; i < std::min(was.size(), is.size()); ++i) {
    if (!was[i].storage || !is[i].storage) continue;
    StorageId target = is[i].storage;
    while (storage_now_[target.index()]) target = storage_now_[target.index()];
    if (graph_.real_storage(was[i].storage) != graph_.real_storage(target))
      storage_now_[was[i].storage.index()] = target;
  }
}

void Substitution::move_views() {
  for (const NodeId id : graph_.order()) {
    const Node& n = graph_.node(id);
    for (std::uint32_t i = 0; i < n.tensor_count; ++i) {
      Tensor& tensor = graph_.tensor(TensorId(n.first_tensor + i));
      while (tensor.storage && storage_now_[tensor.storage.index()])
        tensor.storage = storage_now_[tensor.storage.index()];
    }
  }
}

Argument Substitution::now(const Argument& argument) {
  return replace_inputs(graph_, argument, [this](NodeId node) { return now(node); });
}

Result<void> Substitution::finish() {
  if (gone_.empty()) return {};
  for (const NodeId id : graph_.order())
    redirect_inputs(graph_, id, [this](NodeId node) { return now(node); });
  for (std::size_t part = 0; part < graph_.part_count(); ++part)
    for (OutputEntry& entry : graph_.part(PartId(part)).outputs)
      if (entry.node) entry.node = now(entry.node);
  for (const NodeId id : graph_.order())
    if (const NodeId origin = graph_.node(id).origin) graph_.node(id).origin = now(origin);
  graph_.erase(gone_);
  move_views();
  return graph_.finish();
}

}  // namespace jointer
