// Puts the calls of a graph in the order of the kernels that compute them.
//
// Terms
//   carrier     the call to which the time of a kernel is assigned
//   own kernel  (of a collective, a copy to or from the host, or a wait) the kernel that starts it
//               or waits. Other kernels may compute a part of it, such as the copy before an
//               all-reduce that works in place.
//
// Rules
//   1. Kernels run in their order. The calls of a kernel follow one another; a call that several
//      kernels compute runs in the first of them, and a start or a wait in its own kernel.
//   2. The carrier of a kernel is the first call that runs in it. Without such a call, it is a call
//      that an earlier kernel has computed and this one continues (the second layer of a split
//      reduction) or, if there is none, the carrier of the kernel that ran before in its part. If
//      no kernel ran before, the next carrier gets the time too.
//   3. A kernel is launched once: it takes the CPU as long as the slowest launch of its calls. Its
//      other calls, and views, take no time. Starts and waits cost the same as in eager mode, and
//      so does a call that blocks the CPU and has no kernel on the device.
//   4. In a CUDA graph, the first launch launches everything, and nothing blocks the CPU.
//   5. A call that no kernel computes (a view that became index arithmetic) runs before the first
//      call that reads it, or at the end of its part.
//   6. The steps of the memory timeline are the calls in that order. A kernel in which no call
//      begins gets its own step if it allocates memory or is the first of its part. That is one
//      more step of the call that it continues or, if it continues none, of the call of the
//      previous step. Any other such kernel runs in the step of the kernel before it.
//   7. A region runs at the position of its last call; between regions, calls run one by one. In a
//      region, a kernel in which no call begins never gets its own step.
//
// Source: the order is that of kernels::schedule. Deviation: the order may violate data
// dependencies (a kernel may compute a part of a call before all inputs of the call exist), so it
// is only for simulations.

#include "core/compiled/compiled_calls.h"

#include <algorithm>

#include "core/base/checked.h"
#include "core/base/index.h"

namespace jointer {
namespace {

using kernels::Kernel;
using kernels::KernelTime;

// True for the kinds of kernels that may start a collective or a copy, or wait for one.
bool is_call_out(Kernel::Kind kind) {
  using enum Kernel::Kind;
  return kind == collective || kind == wait || kind == external || kind == template_;
}

class OrderBuilder {
 public:
  OrderBuilder(const Graph& graph, std::span<const CompiledPart> parts,
               std::span<const std::vector<KernelTime>> times, std::span<const NodeCost> costs,
               Execution execution)
      : graph_(graph),
        parts_(parts),
        times_(times),
        costs_(costs),
        is_regional_(execution == Execution::regional),
        is_placed_(graph.node_count()),
        has_kernel_(graph.node_count()) {
    result_.costs.resize(graph.node_count());
    result_.step_of_kernel.resize(parts.size());
    result_.spans.resize(parts.size());
    find_kernels();
  }

  CompiledCalls run(Execution execution) {
    if (is_regional_)
      run_between_regions();
    else
      for (std::size_t part = 0; part < parts_.size(); ++part) run_whole(part);
    for (const NodeId id : graph_.order()) place(id);
    if (execution == Execution::cudagraph) launch_once();
    return std::move(result_);
  }

 private:
  [[nodiscard]] bool starts_or_waits(NodeId id) const {
    const Node& node = graph_.node(id);
    return graph_.is_asynchronous(node) || graph_.is_wait(node);
  }

  void find_kernels() {
    for (const CompiledPart& part : parts_)
      for (const Kernel& kernel : part.scheduled.kernels)
        for (const NodeId id : kernel.nodes)
          if (!starts_or_waits(id) || is_call_out(kernel.kind)) has_kernel_[id.index()] = true;
  }

  // Appends a node; a call gets a step.
  void place(NodeId id) {
    if (is_placed_[id.index()]) return;
    is_placed_[id.index()] = true;
    result_.order.push_back(id);
    if (graph_.node(id).kind != NodeKind::call) return;
    result_.steps.push_back(id);
    const NodeCost& cost = costs_[id.index()];
    if (starts_or_waits(id) || (cost.blocks_host && !has_kernel_[id.index()]))
      result_.costs[id.index()] = cost;
  }

  // Places the inputs of the node that no kernel computes, and then the node.
  void place_with_inputs(NodeId id) {
    open_.assign(1, id);
    while (!open_.empty()) {
      const NodeId next = open_.back();
      NodeId missing;
      for (const NodeId input : graph_.inputs(next))
        if (!is_placed_[input.index()] && !has_kernel_[input.index()]) missing = input;
      if (missing) {
        open_.push_back(missing);
        continue;
      }
      open_.pop_back();
      place(next);
    }
  }

  void run_whole(std::size_t index) {
    const PartId part = parts_[index].part;
    const auto each = [&](auto is_wanted) {
      for (const NodeId id : graph_.order())
        if (graph_.node(id).part == part && is_wanted(graph_.node(id).kind)) place(id);
    };
    result_.spans[index].begin = next_step();
    each([](NodeKind kind) { return kind == NodeKind::placeholder || kind == NodeKind::get_attr; });
    run_kernels(index);
    each([](NodeKind kind) { return kind == NodeKind::call; });
    each([](NodeKind kind) { return kind == NodeKind::output; });
    result_.spans[index].end = next_step();
  }

  void run_between_regions() {
    std::vector<std::int32_t> region_of(graph_.node_count(), -1);
    for (std::size_t i = 0; i < parts_.size(); ++i)
      for (const NodeId id : parts_[i].calls) region_of[id.index()] = static_cast<std::int32_t>(i);
    for (const NodeId id : graph_.order()) {
      const std::int32_t region = region_of[id.index()];
      if (region < 0) {
        place(id);
        result_.costs[id.index()] = costs_[id.index()];
        continue;
      }
      const std::vector<NodeId>& calls = parts_[as_index(region)].calls;
      if (id != calls.back()) continue;
      result_.spans[as_index(region)].begin = next_step();
      run_kernels(as_index(region));
      for (const NodeId call : calls) place(call);
      result_.spans[as_index(region)].end = next_step();
    }
  }

  [[nodiscard]] std::int32_t next_step() const {
    return static_cast<std::int32_t>(result_.steps.size());
  }

  void run_kernels(std::size_t part) {
    const std::vector<Kernel>& all = parts_[part].scheduled.kernels;
    std::vector<bool> allocates(all.size(), false);
    for (const kernels::BufferLife& life : parts_[part].scheduled.lives)
      if (life.allocated > 0 && as_index(life.first) < all.size())
        allocates[as_index(life.first)] = true;
    last_carrier_ = {};
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Kernel& kernel = all[i];
      NodeId first;
      for (const NodeId id : kernel.nodes) {
        if (is_placed_[id.index()] || (starts_or_waits(id) && !is_call_out(kernel.kind))) continue;
        place_with_inputs(id);
        if (!first) first = id;
      }
      add_step(part, kernel, first, allocates[i]);
      add_time(kernel, times_[part][i], first);
    }
  }

  void add_step(std::size_t part, const Kernel& kernel, NodeId first, bool allocates) {
    std::vector<std::int32_t>& steps = result_.step_of_kernel[part];
    std::int32_t step = -1;
    if (first) {
      // The calls of the kernel are the last steps; inputs that no kernel computes may be between
      // them.
      step = next_step() - 1;
      while (result_.steps[as_index(step)] != first) --step;
    } else if (!steps.empty() && (!allocates || is_regional_)) {
      step = steps.back();
    } else {
      const NodeId again = continued_by(kernel);
      if (again && !is_regional_) {
        step = next_step();
        result_.steps.push_back(again);
      } else {
        step = std::max(next_step() - 1, 0);
      }
    }
    steps.push_back(step);
  }

  // For a kernel in which no call begins: the call that it continues; if it continues none, the
  // call of the previous step. None at the start.
  [[nodiscard]] NodeId continued_by(const Kernel& kernel) const {
    for (const NodeId id : kernel.nodes)
      if (is_placed_[id.index()] && !starts_or_waits(id)) return id;
    return result_.steps.empty() ? NodeId{} : result_.steps.back();
  }

  void add_time(const Kernel& kernel, const KernelTime& time, NodeId first) {
    if (!time.is_launch) {
      for (const NodeId id : kernel.nodes)  // a copy to the host
        if (costs_[id.index()].blocks_host && result_.costs[id.index()].ns == 0)
          result_.costs[id.index()] = costs_[id.index()];
      return;
    }
    // place() has set the times of starts and waits.
    if (is_call_out(kernel.kind) &&
        std::ranges::any_of(kernel.nodes, [&](NodeId id) { return starts_or_waits(id); }))
      return;
    NodeId carrier = first;
    if (!carrier)
      for (const NodeId id : kernel.nodes)
        if (result_.costs[id.index()].lane == NodeCost::Lane::compute) {
          carrier = id;
          break;
        }
    if (!carrier) carrier = last_carrier_;
    std::int64_t host_ns = 0;
    bool blocks = false;
    for (const NodeId id : kernel.nodes) {
      host_ns = std::max(host_ns, costs_[id.index()].host_ns);
      blocks = blocks || costs_[id.index()].blocks_host;
    }
    if (!carrier) {  // the first kernel comes from no call
      pending_ns_ = saturating_add(pending_ns_, time.ns);
      pending_host_ns_ = saturating_add(pending_host_ns_, host_ns);
      return;
    }
    NodeCost& cost = result_.costs[carrier.index()];
    if (cost.lane != NodeCost::Lane::compute) cost = {.lane = NodeCost::Lane::compute};
    if (time.ns >= cost.ns) cost.limit = time.limit;
    cost.ns = saturating_add(cost.ns, saturating_add(time.ns, pending_ns_));
    cost.host_ns = saturating_add(cost.host_ns, saturating_add(host_ns, pending_host_ns_));
    cost.blocks_host = cost.blocks_host || blocks;
    pending_ns_ = pending_host_ns_ = 0;
    last_carrier_ = carrier;
  }

  void launch_once() {
    bool is_launched = false;
    for (const NodeId id : result_.order) {
      NodeCost& cost = result_.costs[id.index()];
      cost.blocks_host = false;
      if (is_launched || cost.ns == 0) cost.host_ns = 0;
      is_launched = is_launched || cost.ns > 0;
    }
  }

  const Graph& graph_;
  std::span<const CompiledPart> parts_;
  std::span<const std::vector<KernelTime>> times_;
  std::span<const NodeCost> costs_;
  bool is_regional_;
  CompiledCalls result_;
  std::vector<bool> is_placed_;
  std::vector<bool> has_kernel_;  // a kernel computes it; of a start or a wait, its own
  NodeId last_carrier_;
  std::int64_t pending_ns_ = 0, pending_host_ns_ = 0;
  std::vector<NodeId> open_;
};

}  // namespace

CompiledCalls compiled_calls(const Graph& graph, std::span<const CompiledPart> parts,
                             std::span<const std::vector<KernelTime>> times,
                             std::span<const NodeCost> costs, Execution execution) {
  return OrderBuilder(graph, parts, times, costs, execution).run(execution);
}

}  // namespace jointer
