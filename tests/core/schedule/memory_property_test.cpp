// The timeline, compared with its definition: the set of live storages at every point.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>

#include "core/schedule/caching_allocator.h"
#include "core/schedule/memory_timeline.h"
#include "tests/support/random_graph.h"

namespace jointer::test {
namespace {

// Follows the rules at the top of lifetimes.cpp, storage by storage and without its data
// structures.
class NaiveMemory {
 public:
  explicit NaiveMemory(const Graph& graph) : graph_(graph) {
    for (const NodeId id : graph.order()) {
      if (graph.node(id).kind == NodeKind::call) steps_.push_back(id);
      for (const Tensor& t : graph.tensors(id)) storages_.insert(graph.real_storage(t.storage));
    }
  }

  std::vector<std::int64_t> profile() {
    std::vector<std::int64_t> points(1 + 2 * steps_.size(), 0);
    for (const StorageId storage : storages_) {
      const std::int64_t bytes = size(storage);
      if (bytes == 0) continue;
      const int first = made(storage), last = std::max(first, last_needed(storage));
      for (std::size_t p = 0; p < points.size(); ++p) {
        // Point 2s + 1 is within step s, point 2s + 2 between s and s + 1.
        const double now = p == 0       ? -0.5
                           : p % 2 == 1 ? static_cast<double>(p / 2)
                                        : static_cast<double>(p / 2) - 0.5;
        if (first <= now && now <= last) points[p] += bytes;
      }
    }
    return points;
  }

 private:
  [[nodiscard]] bool holds(NodeId id, StorageId storage) const {
    const auto tensors = graph_.tensors(id);
    return std::any_of(tensors.begin(), tensors.end(),
                       [&](const Tensor& t) { return graph_.real_storage(t.storage) == storage; });
  }
  [[nodiscard]] std::int64_t size(StorageId storage) const {
    const Storage& s = graph_.storage(storage);
    if (graph_.device(s.device).type != graph_.main_device()) return 0;
    const std::int64_t bytes = s.bytes.value;
    return graph_.main_device() == DeviceType::cuda ? (bytes + 511) / 512 * 512 : bytes;
  }
  // The number of calls before a node.
  [[nodiscard]] int step(NodeId id) const {
    return static_cast<int>(std::ranges::count_if(
        steps_, [&](NodeId other) { return graph_.position(other) < graph_.position(id); }));
  }
  [[nodiscard]] int made(StorageId storage) const {
    for (const NodeId id : graph_.order()) {
      if (!holds(id, storage)) continue;
      if (graph_.node(id).kind == NodeKind::call) return step(id);
      // A tangent appears when the backward starts, at the latest in the last step.
      const int last = static_cast<int>(steps_.size()) - 1;
      return step(id) == 0 ? -1 : std::min(step(id), last);
    }
    return -1;
  }
  [[nodiscard]] int last_needed(StorageId storage) const {
    const int end = static_cast<int>(steps_.size());
    int last = -1;
    for (const NodeId id : graph_.order()) {
      const Node& n = graph_.node(id);
      const auto inputs = graph_.inputs(id);
      const bool reads = std::any_of(inputs.begin(), inputs.end(),
                                     [&](NodeId input) { return holds(input, storage); });
      if (n.kind == NodeKind::placeholder && holds(id, storage)) {
        const bool is_released = graph_.part(n.part).kind == CaptureKind::backward &&
                                 (n.role == Role::saved || n.role == Role::tangent);
        last = std::max(last, is_released ? step(id) : end);
      }
      if (!reads) continue;
      if (n.kind == NodeKind::call) last = std::max(last, step(id));
      if (n.kind == NodeKind::output) {
        for (const OutputEntry& entry : graph_.part(n.part).outputs) {
          if (!entry.node || !holds(entry.node, storage)) continue;
          const bool for_backward = graph_.is_pair() && entry.role == Role::saved;
          last = std::max(last, for_backward ? step(id) : end);
        }
      }
      if (graph_.is_collective_start(n)) last = std::max(last, waited(id, end));
    }
    return last;
  }
  // The step of a collective's last wait, of those in its own half if there are any.
  [[nodiscard]] int waited(NodeId start, int end) const {
    int last = -1, last_here = -1;
    for (const NodeId id : graph_.order()) {
      const Node& n = graph_.node(id);
      if (!graph_.is_wait(n) || graph_.collective_of_wait(n) != start) continue;
      last = std::max(last, step(id));
      if (n.part == graph_.node(start).part) last_here = std::max(last_here, step(id));
    }
    return last_here >= 0 ? last_here : last < 0 ? end : last;
  }

  const Graph& graph_;
  std::vector<NodeId> steps_;
  std::set<StorageId> storages_;
};

RC_GTEST_PROP(MemoryProperty, TheProfileEqualsItsDefinition, (std::uint64_t seed, bool pair)) {
  const auto calls = *rc::gen::inRange<std::size_t>(1, 50);
  const Graph graph = random_graph(seed, {.calls = calls, .pair = pair});
  const MemoryTimeline timeline(graph);
  const std::vector<std::int64_t> actual(timeline.profile().begin(), timeline.profile().end());
  RC_ASSERT(actual == NaiveMemory(graph).profile());
}

RC_GTEST_PROP(MemoryProperty, EveryBreakdownSumsToTheTotal, (std::uint64_t seed, bool pair)) {
  const Graph graph = random_graph(seed, {.pair = pair});
  const bool torch_rules = !pair && *rc::gen::arbitrary<bool>();
  const MemoryTimeline timeline(
      graph, {.rules = torch_rules ? MemoryRules::torch : MemoryRules::runtime,
              .optimizer = *rc::gen::element(OptimizerState::none, OptimizerState::adamw)});
  const auto profile = timeline.profile();
  const auto curves = timeline.by_category();
  for (std::size_t i = 0; i < profile.size(); ++i) {
    std::int64_t at = 0, curve = 0, alive = 0;
    for (const std::int64_t bytes : timeline.at(i)) at += bytes;
    for (const auto& c : curves) curve += c[i];
    for (const std::size_t l : timeline.alive_at(i)) alive += timeline.lifetimes()[l].bytes;
    RC_ASSERT(at == profile[i]);
    RC_ASSERT(curve == profile[i]);
    RC_ASSERT(alive == profile[i]);
    RC_ASSERT(profile[i] >= timeline.static_bytes());
  }
  RC_ASSERT(*std::max_element(profile.begin(), profile.end()) == timeline.peak_bytes());
  RC_ASSERT(profile[timeline.peak_index()] == timeline.peak_bytes());
}

RC_GTEST_PROP(MemoryProperty, ReservedCoversLiveBytes, (std::uint64_t seed)) {
  const Graph graph = random_graph(seed, {.calls = 60});
  const MemoryTimeline timeline(graph);
  const ReservedProfile reserved = simulate_reserved(timeline, DeviceType::cuda);
  RC_ASSERT(reserved.bytes.size() == timeline.profile().size());
  for (std::size_t i = 0; i < reserved.bytes.size(); ++i) {
    RC_ASSERT(reserved.bytes[i] >= timeline.profile()[i]);
    RC_ASSERT(reserved.bytes[i] % (2 << 20) == 0);
    if (i > 0) RC_ASSERT(reserved.bytes[i] >= reserved.bytes[i - 1]);
  }
  RC_ASSERT(reserved.peak_bytes == reserved.bytes.back());
}

}  // namespace
}  // namespace jointer::test
