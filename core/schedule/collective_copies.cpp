// Finds the memory that Gloo allocates for collectives (torch 2.11, ProcessGroupGloo.cpp):
//   reduce-scatter   a copy of the input, which is reduced instead of the input
//   all-gather       a buffer for the tensors of all ranks, which are then copied to the output: as
//                    many bytes as the output
//   the others       nothing: they work in the given tensors
// The memory counts as live from the start to the wait or, if there is no wait, to the end. This is
// an upper bound, since Gloo's own thread allocates it at some time in between.
//
// Cost: linear in nodes.

#include "core/schedule/collective_copies.h"

#include "core/schedule/memory_walk.h"

namespace jointer {
namespace {

// Tracks the copies while the graph's calls run.
class Copies : public GraphCalls {
 public:
  Copies(const Graph& graph, DeviceType device, bool rounds_sizes)
      : GraphCalls(graph),
        device_(device),
        rounds_sizes_(rounds_sizes),
        copy_of_(graph.node_count(), -1) {}

  void allocate(Call, std::int32_t) {}
  void use_inputs(Call, std::int32_t) {}
  void start(Call call, std::int32_t step) {
    const std::int64_t bytes = collective_copy_bytes(graph_, *call.node, device_, rounds_sizes_);
    if (bytes <= 0) return;
    copy_of_[index(call)] = static_cast<std::int32_t>(found_.size());
    found_.push_back({.storage = {},
                      .producer = call.id,
                      .bytes = bytes,
                      .first = step,
                      .last = step,
                      .category = MemoryCategory::communication});
  }
  void keep_inputs(Call start, std::int32_t step) {
    if (const std::int32_t copy = copy_of_[index(start)]; copy >= 0)
      found_[static_cast<std::size_t>(copy)].last = step;
  }
  std::vector<Lifetime> take() { return std::move(found_); }

 private:
  DeviceType device_;
  bool rounds_sizes_;
  std::vector<std::int32_t> copy_of_;  // indexed by node id of the start
  std::vector<Lifetime> found_;
};

}  // namespace

std::int64_t collective_copy_bytes(const Graph& graph, const Node& start, DeviceType device,
                                   bool rounds_sizes) {
  std::int64_t bytes = 0;
  const auto add = [&](const Node& node) {
    for (const Tensor& tensor : graph.tensors(node)) {
      const std::int64_t requested = graph.bytes(tensor);
      bytes += rounds_sizes ? allocated_bytes(requested, device) : requested;
    }
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
                                             DeviceType device, bool rounds_sizes) {
  if (library == CollectiveLibrary::none) return {};
  Copies copies(graph, device, rounds_sizes);
  MemoryWalk walk(copies, graph.node_count());
  for (const NodeId id : graph.order())
    if (const Node& node = graph.node(id); node.kind == NodeKind::call) walk.run({id, &node});
  walk.end();
  return copies.take();
}

}  // namespace jointer
