#include "core/schedule/optimizer_states.h"

#include <algorithm>

#include "core/base/checked.h"
#include "core/schedule/lifetimes.h"
#include "core/schedule/memory_walk.h"

namespace jointer {

std::vector<ParameterState> optimizer_states(const Graph& graph, DeviceType device,
                                             bool rounds_sizes) {
  constexpr std::int64_t kMomentBytes = 4, kStepBytes = 4;
  // Limits the states of absurd shapes, so that their sum with the graph's storages, of up to 2^62
  // bytes, does not overflow.
  std::int64_t room = std::int64_t{1} << 61;
  const auto allocated = [&](std::int64_t bytes) {
    return rounds_sizes ? allocated_bytes(bytes, device) : bytes;
  };
  std::vector<ParameterState> states;
  for (const NodeId id : graph.order()) {
    const Node& n = graph.node(id);
    // A pair's backward receives the same parameters again.
    if (n.kind != NodeKind::placeholder || n.role != Role::parameter || n.partner) continue;
    for (const Tensor& t : graph.tensors(n)) {
      if (!counts_on(graph, graph.device_type(t), device)) continue;
      const std::int64_t moment =
          allocated(std::min(saturating_mul(graph.numel(t), kMomentBytes), room / 4));
      states.push_back({id, 2 * moment + allocated(kStepBytes), moment});
      room = std::max<std::int64_t>(room - states.back().bytes, 0);
    }
  }
  return states;
}

}  // namespace jointer
