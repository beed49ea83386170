// Determines which values can be offloaded. A value can be offloaded if a synchronous call returns
// it as its only tensor, it covers all of its storage without gaps, and nothing writes to that
// storage later: the value and its views are reloaded separately, so a write would affect only one
// of them. Writes count in both halves, since the halves depend on the plan.
//
// Cost: linear in the graph once, then in the rank of a tensor.

#include "core/partition/offloadable.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace jointer {
namespace {

// True if the tensor covers all of its storage without gaps, so that a copy of it is equivalent.
bool fills_storage(const Graph& graph, const Tensor& t) {
  if (graph.bytes(t) != graph.storage(graph.real_storage(t.storage)).bytes.value) return false;
  if (!t.has(Tensor::has_stride)) return true;
  std::vector<std::pair<std::int64_t, std::int64_t>> dims;  // stride, size
  for (std::size_t i = 0; i < t.rank; ++i)
    if (const std::int64_t size = graph.shape(t)[i].value; size != 1)
      dims.emplace_back(graph.stride(t)[i].value, size);
  std::sort(dims.begin(), dims.end());
  std::int64_t expected = 1;
  for (const auto& [stride, size] : dims) {
    if (stride != expected) return false;
    expected *= size;
  }
  return true;
}

}  // namespace

Offloadable::Obstacle Offloadable::obstacle(NodeId value) const {
  const Node& n = graph_.node(value);
  const Tensor* tensor = graph_.single_tensor(n);
  if (n.kind != NodeKind::call || tensor == nullptr) return Obstacle::not_a_result;
  if (graph_.is_asynchronous(n)) return Obstacle::unfinished;
  if (!tensor->storage || !fills_storage(graph_, *tensor)) return Obstacle::partial;
  if (writes_.any() && writes_.follow(value, graph_.real_storage(tensor->storage)))
    return Obstacle::written;
  return Obstacle::none;
}

std::string Offloadable::why_not(NodeId value) const {
  const std::string_view name = graph_.name(value);
  switch (obstacle(value)) {
    case Obstacle::none:
      return {};
    case Obstacle::not_a_result:
      return fmt::format("{} is not a call that returns a single tensor", name);
    case Obstacle::unfinished:
      return fmt::format(
          "the collective or copy that {} starts may be incomplete; offload the result of its wait",
          name);
    case Obstacle::partial:
      return fmt::format("{} does not fill a storage without gaps; offload a tensor that does",
                         name);
    case Obstacle::written: {
      const Tensor& tensor = *graph_.single_tensor(graph_.node(value));
      return fmt::format("the memory of {} is written to later, last by {}", name,
                         graph_.name(writes_.of(graph_.real_storage(tensor.storage))));
    }
  }
  return {};
}

}  // namespace jointer
