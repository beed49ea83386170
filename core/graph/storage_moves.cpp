#include "core/graph/storage_moves.h"

#include <algorithm>
#include <vector>

namespace jointer {
namespace {

using Where = std::function<StorageMove(const Tensor&)>;

// Copies the value and its tensors. The new tensors are consecutive, as a node requires.
Value moved(Graph& graph, const Value& value, const Where& where) {
  if (value.kind == Value::Kind::list || value.kind == Value::Kind::dict) {
    const auto children = graph.children(value);
    std::vector<Value> copies(children.begin(), children.end());
    for (Value& copy : copies) copy = moved(graph, copy, where);
    return graph.make_children(value.kind, copies);
  }
  if (value.kind != Value::Kind::tensor) return value;
  Tensor tensor = graph.tensor(value.tensor());
  const auto shape = graph.shape(tensor), stride = graph.stride(tensor);
  const std::vector<Dim> sizes(shape.begin(), shape.end()), steps(stride.begin(), stride.end());
  Dim offset = graph.offset(tensor);
  if (const StorageMove move = where(tensor); move.to) {
    tensor.storage = move.to;
    tensor.set(Tensor::has_storage);
    if (move.by != 0) tensor.set(Tensor::has_offset);
    // An offset with an expression cannot be shifted: adding to its value leaves the expression
    // unchanged.
    const bool can_shift = move.by == 0 || !offset.expression;
    offset.value += move.by;
    if (!move.keeps_offset || !can_shift) {
      tensor.set(Tensor::has_offset, false);
      offset = {};
    }
  }
  return Value::of_tensor(graph.add_tensor(tensor, sizes, steps, offset));
}

}  // namespace

void move_tensors(Graph& graph, NodeId node, const Where& where) {
  const auto tensors = graph.tensors(node);
  if (std::ranges::none_of(tensors, [&](const Tensor& tensor) { return bool{where(tensor).to}; }))
    return;
  const Value value = graph.node(node).value;
  const Value now = moved(graph, value, where);
  graph.node(node).value = now;
  graph.refresh(node);
}

}  // namespace jointer
