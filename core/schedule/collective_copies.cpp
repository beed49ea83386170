// Finds the memory that Gloo allocates for collectives (torch 2.11, ProcessGroupGloo.cpp):
//   reduce-scatter   a copy of its input, which is reduced in place of the input
//   all-gather       the gathered ranks side by side before they are moved to their places: as many
//                    bytes as its output
//   the others       none: they work in the given tensors
// The memory is live from the start to the wait. Gloo's own thread allocates it at some time
// between the two, so this is an upper bound. Without a wait it stays until the end.
//
// Cost: linear in nodes.

#include "core/schedule/collective_copies.h"
#include "core/schedule/collective_waits.h"

namespace jointer {

std::int64_t collective_copy_bytes(const Graph& graph, const Node& start, DeviceType device) {
  std::int64_t bytes = 0;
  const auto add = [&](const Node& node) {
    for (const Tensor& tensor : graph.tensors(node))
      bytes += allocated_bytes(graph.bytes(tensor), device);
  };
  switch (graph.op(start).collective) {
    case CollectiveKind::all_gather:
      add(start);
      break;
    case CollectiveKind::reduce_scatter:
      for (const NodeId input : graph.inputs(start)) add(graph.node(input));
      break;
    case CollectiveKind::none:
    case CollectiveKind::all_reduce:
    case CollectiveKind::all_to_all:
    case CollectiveKind::broadcast:
      break;
  }
  return bytes;
}

std::vector<Lifetime> find_collective_copies(const Graph& graph, CollectiveLibrary library,
                                             DeviceType device) {
  std::vector<Lifetime> copies;
  if (library == CollectiveLibrary::none) return copies;
  std::vector<std::int32_t> copy_of(graph.node_count(), -1);  // indexed by the start's node
  const CollectiveWaits waits(graph);
  std::int32_t step = 0;
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (node.kind != NodeKind::call) continue;
    if (graph.is_collective_start(node)) {
      if (const std::int64_t bytes = collective_copy_bytes(graph, node, device); bytes > 0) {
        copy_of[id.index()] = static_cast<std::int32_t>(copies.size());
        copies.push_back({.storage = {},
                          .producer = id,
                          .bytes = bytes,
                          .first = step,
                          .last = -1,
                          .category = MemoryCategory::communication});
      }
    } else if (graph.is_wait(node)) {
      const NodeId start = waits.ended_by(node);
      if (start && copy_of[start.index()] >= 0)
        copies[static_cast<std::size_t>(copy_of[start.index()])].last = step;
    }
    ++step;
  }
  for (Lifetime& copy : copies)
    if (copy.last < 0) copy.last = step;
  return copies;
}

}  // namespace jointer
