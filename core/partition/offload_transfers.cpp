// Places copies to the host and back in a pair.
//
// In the forward, after the last call that uses the value's memory:
//     async_cpu_offload_x = ao.offload(x)
//     ...                                          the next layer
//     cpu_offload_x = ao.wait_tensor(async_cpu_offload_x, x)
// The forward returns cpu_offload_x instead of x. The wait frees the device memory, since it is the
// last reader of x. In the backward:
//     async_gpu_reload_x = ao.reload(cpu_offload_x, device)
//     ...                                          the layer before the one that needs it
//     gpu_reload_x = ao.wait_tensor(async_gpu_reload_x)
// The readers of x then read gpu_reload_x. The copies run on a separate stream; a wait that comes
// too early stalls the compute stream.
//
// The layers above are stretches: runs of calls of one layer. A call outside any layer belongs to
// the stretch before it, and the calls before the first layer form a stretch. If there is no next
// stretch, the wait comes at the end of the forward; if there is none before, the copy back starts
// before the first call of the backward. In a half without layers, waits directly follow the copies
// at their position. At the same position, copies to the host are in the order of the values, and
// copies back in the order of their first use, so that none queues behind a copy that is needed
// later.
//
// Source: torchtitan's apply_cpu_offload_pass, which waits one layer later and reloads one layer
// ahead. Operator names come from later versions of torch, node names from torch's activation
// offloading. Deviation: a copy starts after the last use of the value, as in torch, and not when
// the value is computed, so that writes in between are included.

#include "core/partition/offload_transfers.h"

#include <algorithm>
#include <tuple>

#include "core/graph/layers.h"
#include "core/graph/module_tree.h"

namespace jointer {
namespace {

// Indexed by call: the number of its stretch, from 0. Without layers, there is one stretch.
std::vector<std::size_t> stretches(std::span<const std::int32_t> layers) {
  std::vector<std::size_t> stretch(layers.size(), 0);
  std::int32_t layer = -1;
  std::size_t count = 0;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (layers[i] >= 0 && layers[i] != layer) {
      if (layer >= 0 || i > 0) ++count;
      layer = layers[i];
    }
    stretch[i] = count;
  }
  return stretch;
}

}  // namespace

TransferPlanner::TransferPlanner(std::span<const std::int32_t> layers)
    : stretch_(stretches(layers)),
      has_layers_(std::ranges::any_of(layers, [](std::int32_t l) { return l >= 0; })) {
  for (std::size_t i = 0; i < stretch_.size(); ++i)
    if (i == 0 || stretch_[i] != stretch_[i - 1]) first_.push_back(i);
  first_.push_back(stretch_.size());
}

TransferPlaces TransferPlanner::offload(std::size_t last_use) const {
  const std::size_t start = last_use + 1;
  if (!has_layers_) return {start, start};
  const std::size_t after_next = std::min(stretch_[last_use] + 2, first_.size() - 1);
  return {start, std::max(start, first_[after_next])};
}

TransferPlaces TransferPlanner::reload(std::size_t first_use) const {
  if (!has_layers_ || stretch_.empty()) return {first_use, first_use};
  const std::size_t at = stretch_[std::min(first_use, stretch_.size() - 1)];
  return {std::min(first_[at == 0 ? 0 : at - 1], first_use), first_use};
}

std::vector<TransferCall> offload_calls(const TransferPlanner& planner,
                                        std::span<const std::size_t> uses) {
  std::vector<TransferCall> calls;
  for (std::uint32_t v = 0; v < uses.size(); ++v) {
    const TransferPlaces places = planner.offload(uses[v]);
    calls.push_back({places.start, TransferCall::Kind::offload, v});
    calls.push_back({places.wait, TransferCall::Kind::offload_wait, v});
  }
  std::sort(calls.begin(), calls.end());
  return calls;
}

std::vector<TransferCall> reload_calls(const TransferPlanner& planner,
                                       std::span<const std::size_t> uses) {
  std::vector<TransferCall> calls;
  for (std::uint32_t v = 0; v < uses.size(); ++v) {
    const TransferPlaces places = planner.reload(uses[v]);
    calls.push_back({places.start, TransferCall::Kind::reload, v});
    calls.push_back({places.wait, TransferCall::Kind::reload_wait, v});
  }
  std::sort(calls.begin(), calls.end(), [&](const TransferCall& a, const TransferCall& b) {
    return std::tuple(a.before, a.kind, uses[a.value], a.value) <
           std::tuple(b.before, b.kind, uses[b.value], b.value);
  });
  return calls;
}

std::vector<std::int32_t> layers_by_node(const Graph& graph) {
  const ModuleTree modules(graph);
  const Layers layers(graph, modules);
  std::vector<std::int32_t> by_node(graph.node_count(), -1);
  for (const NodeId id : graph.order())
    by_node[id.index()] = static_cast<std::int32_t>(layers.of(id));
  return by_node;
}

}  // namespace jointer
