#include "core/partition/backward_order.h"

#include <algorithm>
#include <vector>

#include "core/partition/half_order.h"
#include "core/partition/recompute_tags.h"

namespace jointer {
namespace {

// The outputs of a half, without nulls.
std::vector<NodeId> outputs_of(const Half& half) {
  std::vector<NodeId> outputs;
  std::ranges::copy_if(half.outputs, std::back_inserter(outputs),
                       [](NodeId output) { return bool(output); });
  return outputs;
}

std::vector<bool> marks_of(const Graph& joint, std::span<const NodeId> nodes) {
  std::vector<bool> marks(joint.node_count(), false);
  for (const NodeId id : nodes) marks[id.index()] = true;
  return marks;
}

}  // namespace

void arrange_forward(const Graph& joint, Partitioner partitioner, Half& forward) {
  order_forward(GraphNodes(joint), partitioner, outputs_of(forward), forward.calls);
}

void arrange_backward(const Graph& joint, Partitioner partitioner, std::span<const NodeId> inputs,
                      std::span<const NodeId> tangents, Half& backward) {
  const bool any_tags =
      std::ranges::any_of(joint.order(), [&](NodeId id) { return must_recompute(joint.node(id)); });
  const std::vector<bool> is_tangent = marks_of(joint, tangents);
  order_backward(
      GraphNodes(joint), partitioner, any_tags, outputs_of(backward),
      [&](NodeId id) { return is_tangent[id.index()]; }, marks_of(joint, inputs), backward.calls);
}

}  // namespace jointer
