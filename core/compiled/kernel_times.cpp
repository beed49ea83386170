// Estimates the times of kernels.
//
// External kernels, templates and collectives take as long as the nodes that run in them are
// estimated to take, so that a product or an attention costs the same in the compiled program as in
// eager mode. With the estimator `kernels`, these times depend on the tiles of products and on the
// head size of attention.
//
// Loops, and external kernels and templates without an estimate, follow the rules of
// core/cost/kernel_rules.h, for the accesses that kernel_accesses.cpp finds. If the estimator's
// device has no rates of kernels, as with the estimator `roofline`, they take the time of their
// bytes at the bandwidth that the roofline model assumes, at least the minimum duration of a
// kernel. Loops of a single call whose time is given (NodeCost::Limit::given: by a measurement, a
// profile, or the estimators `simple`, `torch-2.11` and `torch-2.15`) take that time, in the first
// kernel that computes the call.
//
// Loops that are fused into a template run while the template does: it takes as long as its call,
// or as all its bytes if that is longer.
//
// Cost: linear in the nodes of all kernels, for templates times their ops, plus that of loop_work.

#include "core/compiled/kernel_times.h"

#include <algorithm>
#include <optional>

#include "core/base/checked.h"
#include "core/base/index.h"
#include "core/compiled/kernel_accesses.h"
#include "core/cost/kernel_estimator.h"
#include "core/cost/node_flops.h"
#include "core/cost/roofline.h"

namespace jointer::kernels {
namespace {

using Kind = Kernel::Kind;
using Limit = NodeCost::Limit;

// Sums and maxima over the nodes of an external kernel, a template or a collective.
struct NodeTotals {
  bool has_estimate = false;
  bool is_counted_before = false;  // a node's time is in an earlier kernel
  std::int64_t ns = 0;
  double peak_ns = 0;  // the FLOPs at the peak rate
  std::int64_t longest_ns = -1;
  Limit limit = Limit::none;  // of the longest node
};

class Timer {
 public:
  Timer(const Graph& graph, const Ir& ir, std::span<const NodeCost> node_costs,
        const DeviceDescription& device)
      : graph_(graph),
        ir_(ir),
        node_costs_(node_costs),
        device_(device),
        is_all_on_cpu_(graph.main_device() == DeviceType::cpu),
        is_counted_(graph.node_count()) {}

  KernelTime time_of(const Kernel& kernel);

 private:
  NodeTotals totals_of(const Kernel& kernel);
  [[nodiscard]] bool is_of_fused_loops(const Kernel& kernel, NodeId node) const;
  std::optional<std::int64_t> given_ns(const Kernel& kernel);
  void set_time_of_loops(const Kernel& kernel, KernelTime& time);

  const Graph& graph_;
  const Ir& ir_;
  std::span<const NodeCost> node_costs_;
  const DeviceDescription& device_;
  bool is_all_on_cpu_;
  std::vector<bool> is_counted_;  // by node: its time is in a kernel
};

// True if a template computes the node in loops that are fused into it.
bool Timer::is_of_fused_loops(const Kernel& kernel, NodeId node) const {
  if (kernel.kind != Kind::template_) return false;
  return std::ranges::any_of(kernel.ops, [&](OpId id) {
    const Op& op = ir_.ops[as_index(id)];
    return (op.kind == Op::Kind::pointwise || op.kind == Op::Kind::reduction) &&
           std::ranges::find(op.nodes, node) != op.nodes.end();
  });
}

NodeTotals Timer::totals_of(const Kernel& kernel) {
  NodeTotals totals;
  std::vector<NodeId> nodes = kernel.nodes;
  if (kernel.product) nodes.push_back(kernel.product);
  for (const NodeId id : nodes) {
    const Node& node = graph_.node(id);
    const NodeCost& cost = node_costs_[id.index()];
    const Flops flops = node_flops(graph_, node);
    if (is_of_fused_loops(kernel, id)) {
      is_counted_[id.index()] = true;
      continue;
    }
    totals.has_estimate = totals.has_estimate || cost.ns > 0;
    if (is_counted_[id.index()]) {
      totals.is_counted_before = totals.is_counted_before || cost.ns > 0;
      continue;
    }
    is_counted_[id.index()] = true;
    totals.ns = saturating_add(totals.ns, cost.ns);
    if (flops.total != 0)
      totals.peak_ns += computed_flops(graph_, node, flops.total) /
                        device_.peak_flops(arithmetic_type(graph_, node)) * 1e9;
    if (cost.ns > totals.longest_ns) {
      totals.longest_ns = cost.ns;
      totals.limit = cost.limit;
    }
  }
  return totals;
}

// If only one node of the kernel takes time, and that time is given: the time, or 0 if the node
// counts in an earlier kernel, as in the second layer of a split reduction. Otherwise,
// std::nullopt.
std::optional<std::int64_t> Timer::given_ns(const Kernel& kernel) {
  NodeId only;
  for (const NodeId id : kernel.nodes) {
    if (node_costs_[id.index()].ns <= 0) continue;
    if (only) return std::nullopt;
    only = id;
  }
  if (!only) return std::nullopt;
  const NodeCost& cost = node_costs_[only.index()];
  if (cost.limit != Limit::given || cost.lane != NodeCost::Lane::compute) return std::nullopt;
  if (is_counted_[only.index()]) return 0;
  is_counted_[only.index()] = true;
  return cost.ns;
}

void Timer::set_time_of_loops(const Kernel& kernel, KernelTime& time) {
  if (const std::optional<std::int64_t> ns = given_ns(kernel)) {
    time.ns = *ns;
    time.limit = Limit::given;
    return;
  }
  if (!device_.kernels) {
    const double gbps = device_.memory_gbps * device_.efficiency.memory;
    const double ns = gbps > 0 ? static_cast<double>(kernel.bytes) / gbps : 0;
    const double launch_ns = device_.kernel_us * 1e3;
    time.ns = saturating_round(std::max(ns, launch_ns));
    time.limit = ns > launch_ns ? Limit::memory : Limit::launch;
    return;
  }
  LoopWork work = loop_work(ir_, kernel, device_);
  for (const NodeId id : kernel.nodes)
    if (const Node& node = graph_.node(id); node.kind == NodeKind::call &&
                                            is_special_function(graph_.op(node).packet()) &&
                                            !graph_.tensors(node).empty())
      work.special_functions += static_cast<double>(graph_.numel(graph_.tensors(node).front()));
  const KernelDuration duration = loop_time(device_, work);
  time.ns = saturating_round(duration.ns);
  time.limit = duration.limit;
}

KernelTime Timer::time_of(const Kernel& kernel) {
  KernelTime time;
  time.is_launch = is_launch(kernel.kind) && (kernel.is_on_gpu || is_all_on_cpu_);
  if (!time.is_launch) return time;
  const bool is_collective = kernel.kind == Kind::collective;
  const bool is_of_library = kernel.kind == Kind::external || kernel.kind == Kind::template_;
  const NodeTotals nodes = is_collective || is_of_library ? totals_of(kernel) : NodeTotals{};
  time.is_memory_bound = is_memory_bound(graph_, kernel);
  time.is_time_of_nodes = is_collective || (is_of_library && nodes.has_estimate);
  if (time.is_time_of_nodes) {
    time.ns = nodes.ns;
    time.limit = nodes.limit;
    if (kernel.kind == Kind::template_ && kernel.ops.size() > 1) {
      KernelTime bytes;
      set_time_of_loops(kernel, bytes);
      if (bytes.ns > time.ns) {
        time.ns = bytes.ns;
        time.limit = bytes.limit;
      }
    }
  } else {
    set_time_of_loops(kernel, time);
  }
  const double gbps = device_.memory_gbps;
  const double bytes_ns = gbps > 0 ? static_cast<double>(kernel.bytes) / gbps : 0;
  time.roofline_ns = is_collective || nodes.is_counted_before
                         ? time.ns
                         : std::min(time.ns, saturating_round(std::max(bytes_ns, nodes.peak_ns)));
  return time;
}

}  // namespace

bool is_memory_bound(const Graph& graph, const Kernel& kernel) {
  const auto has_flops = [&](NodeId node) {
    return node_flops(graph, graph.node(node)).torch_registry != 0;
  };
  // Most kernels of loops are memory-bound even if their nodes have FLOPs, which then need not be
  // computed.
  if (is_memory_bound(kernel, true)) return true;
  if (kernel.call) return is_memory_bound(kernel, has_flops(kernel.call));
  return is_memory_bound(kernel, (kernel.product && has_flops(kernel.product)) ||
                                     std::ranges::any_of(kernel.nodes, has_flops));
}

std::vector<KernelTime> kernel_times(const Graph& graph, const Ir& ir, const Kernels& kernels,
                                     std::span<const NodeCost> node_costs,
                                     const DeviceDescription& device) {
  Timer timer(graph, ir, node_costs, device);
  std::vector<KernelTime> times;
  times.reserve(kernels.kernels.size());
  for (const Kernel& kernel : kernels.kernels) times.push_back(timer.time_of(kernel));
  return times;
}

}  // namespace jointer::kernels
