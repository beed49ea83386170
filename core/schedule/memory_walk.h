#pragma once

// Walks the calls of a graph in the order in which they run, and determines which memory each call
// needs and for how long, by rules 1, 2 and 4 at the top of lifetimes.cpp. `Uses` determines
// how calls are represented and what is recorded: lifetimes, the items of an order that is being
// edited, the buffers of the collective library, or the memory of a plan.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/graph/graph.h"

namespace jointer {

// Rule 6: true if tensors on a device of type `tensor` count when the graph runs on `device`.
inline bool counts_on(const Graph& graph, DeviceType tensor, DeviceType device) {
  return tensor == graph.main_device() || tensor == device;
}

// The step for anything that is allocated before the first call.
inline constexpr std::int32_t kBeforeStart = -1;

// The step in which a placeholder before step `next` is allocated. `count`: the number of steps. A
// placeholder after the last call, as in a backward that only returns the value, is allocated in
// the last step.
inline std::int32_t step_of_placeholder(std::int32_t next, std::int32_t count) {
  return next == 0 ? kBeforeStart : next < count ? next : count - 1;
}

// The point of a profile (memory_timeline.h) after the allocations of a step; its frees follow at
// the next point.
inline std::size_t point_of_step(std::size_t step) {
  return 1 + 2 * step;
}
// The points at which a lifetime begins and ends; the end may be beyond the profile.
inline std::size_t begin_point(std::int32_t first) {
  return first < 0 ? 0 : point_of_step(static_cast<std::size_t>(first));
}
inline std::size_t end_point(std::int32_t last) {
  return static_cast<std::size_t>(2 + 2 * std::int64_t{last});
}
// Adds a lifetime to the changes at its points. The prefix sums of all changes are the profile.
inline void add_lifetime(std::vector<std::int64_t>& changes, std::int32_t first, std::int32_t last,
                         std::int64_t bytes) {
  changes[begin_point(first)] += bytes;
  if (const std::size_t end = end_point(last); end < changes.size()) changes[end] -= bytes;
}

// `Uses` provides
//   Call                         a type that identifies a call
//   is_start(call)               true if the call starts a collective, or a copy to or from the
//                                host
//   awaited(call)                the start that the call waits for; none if it does not wait
//   index(start)                 the index of a start, less than `starts`
//   is_in_the_other_half(start, wait)
//                                true if they are in different halves of a pair
// and records what happens in a step, the index of a call in the order in which calls run:
//   allocate(call, step)         a call allocates the storages of its results, unless they exist
//   use_inputs(call, step)       a call uses the storages of its inputs
//   start(call, step)            an asynchronous operation starts
//   keep_inputs(start, step)     an asynchronous operation still needs the storages of its inputs
template <class Uses>
class MemoryWalk {
 public:
  using Call = typename Uses::Call;

  MemoryWalk(Uses& uses, std::size_t starts) : uses_(uses), waited_(starts, Waited::no) {}

  // The step of the next call.
  [[nodiscard]] std::int32_t step() const { return step_; }
  // Skips a call that the caller handles.
  void pass() { ++step_; }

  void run(Call call) {
    uses_.allocate(call, step_);
    uses_.use_inputs(call, step_);
    if (uses_.is_start(call)) {
      uses_.start(call, step_);
      starts_.push_back(call);
    } else if (const std::optional<Call> start = uses_.awaited(call)) {
      wait(*start, uses_.is_in_the_other_half(*start, call));
    }
    ++step_;
  }

  // The inputs of a start without a wait stay live to the end.
  void end() {
    for (const Call start : starts_)
      if (waited_[uses_.index(start)] == Waited::no) uses_.keep_inputs(start, step_);
  }

 private:
  enum class Waited : std::uint8_t { no, in_its_half, in_the_other };

  // The inputs of a start stay live until its wait, because its stream may still read them. If a
  // pair's forward waits for a collective and a partitioner saves the start and recomputes the
  // wait, the collective is already complete at the wait in the backward. The forward runs first,
  // so its waits are known by then.
  void wait(Call start, bool in_the_other_half) {
    Waited& waited = waited_[uses_.index(start)];
    if (in_the_other_half && waited == Waited::in_its_half) return;
    waited = in_the_other_half ? Waited::in_the_other : Waited::in_its_half;
    uses_.keep_inputs(start, step_);
  }

  Uses& uses_;
  std::vector<Waited> waited_;  // by index of the start
  std::vector<Call> starts_;
  std::int32_t step_ = 0;
};

// The part of `Uses` that is the same for all orders of a graph's calls.
class GraphCalls {
 public:
  struct Call {
    NodeId id;
    const Node* node = nullptr;
  };

  explicit GraphCalls(const Graph& graph) : graph_(graph) {}

  [[nodiscard]] bool is_start(Call call) const { return graph_.is_asynchronous(*call.node); }
  [[nodiscard]] std::optional<Call> awaited(Call call) const {
    if (!graph_.is_wait(*call.node)) return std::nullopt;
    const NodeId start = graph_.collective_of_wait(*call.node);
    return start ? std::optional(Call{start, &graph_.node(start)}) : std::nullopt;
  }
  [[nodiscard]] static std::size_t index(Call start) { return start.id.index(); }
  [[nodiscard]] static bool is_in_the_other_half(Call start, Call wait) {
    return start.node->part != wait.node->part;
  }

 protected:
  const Graph& graph_;
};

}  // namespace jointer
