// Estimates the times of kernels.
//
// Calls of libraries, and collectives, take as long as the nodes that run in them are estimated to
// take. Loops, and calls without an estimate, take the time of their bytes at the bandwidth that
// the roofline model assumes, at least the minimum duration of a kernel.
//
// Cost: linear in the nodes of all kernels.

#include "core/compiled/kernel_times.h"

#include <algorithm>

#include "core/base/checked.h"
#include "core/cost/node_flops.h"
#include "core/cost/roofline.h"

namespace jointer::kernels {
namespace {

using Kind = Kernel::Kind;
using Limit = NodeCost::Limit;

// The nodes of a kernel of a library or of a collective.
struct NodeTotals {
  bool has_flops = false, has_estimate = false;
  std::int64_t ns = 0;
  double peak_ns = 0;  // the FLOPs at the peak rate
  std::int64_t longest_ns = -1;
  Limit limit = Limit::none;  // of the longest node
};

class Timer {
 public:
  Timer(const Graph& graph, std::span<const NodeCost> node_costs, const DeviceDescription& device)
      : graph_(graph),
        node_costs_(node_costs),
        device_(device),
        is_all_on_cpu_(graph.main_device() == DeviceType::cpu),
        is_counted_(graph.node_count()) {}

  KernelTime time_of(const Kernel& kernel);

 private:
  NodeTotals totals_of(const Kernel& kernel);

  const Graph& graph_;
  std::span<const NodeCost> node_costs_;
  const DeviceDescription& device_;
  bool is_all_on_cpu_;
  std::vector<bool> is_counted_;  // by node: its time is in a kernel
};

NodeTotals Timer::totals_of(const Kernel& kernel) {
  NodeTotals totals;
  for (const NodeId id : kernel.nodes) {
    const Node& node = graph_.node(id);
    const NodeCost& cost = node_costs_[id.index()];
    const Flops flops = node_flops(graph_, node);
    totals.has_flops = totals.has_flops || flops.torch_registry != 0;
    totals.has_estimate = totals.has_estimate || cost.ns > 0;
    if (is_counted_[id.index()]) continue;
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

KernelTime Timer::time_of(const Kernel& kernel) {
  KernelTime time;
  time.is_launch = is_launch(kernel.kind) && (kernel.is_on_gpu || is_all_on_cpu_);
  if (!time.is_launch) return time;
  const bool is_collective = kernel.kind == Kind::collective;
  const bool is_of_library = kernel.kind == Kind::external || kernel.kind == Kind::template_;
  const NodeTotals nodes = is_collective || is_of_library ? totals_of(kernel) : NodeTotals{};
  time.is_memory_bound = is_memory_bound(kernel, nodes.has_flops);
  time.is_time_of_nodes = is_collective || (is_of_library && nodes.has_estimate);
  const double gbps = device_.memory_gbps;
  const double peak_ns = gbps > 0 ? static_cast<double>(kernel.bytes) / gbps : 0;
  const double ns = peak_ns / device_.efficiency.memory, launch_ns = device_.kernel_us * 1e3;
  if (time.is_time_of_nodes) {
    time.ns = nodes.ns;
    time.limit = nodes.limit;
  } else {
    time.ns = saturating_round(std::max(ns, launch_ns));
    time.limit = ns > launch_ns ? Limit::memory : Limit::launch;
  }
  time.roofline_ns = is_collective || time.limit == Limit::given
                         ? time.ns
                         : std::min(time.ns, saturating_round(std::max(peak_ns, nodes.peak_ns)));
  return time;
}

}  // namespace

std::vector<KernelTime> kernel_times(const Graph& graph, const Ir& /*ir*/, const Kernels& kernels,
                                     std::span<const NodeCost> node_costs,
                                     const DeviceDescription& device) {
  Timer timer(graph, node_costs, device);
  std::vector<KernelTime> times;
  times.reserve(kernels.kernels.size());
  for (const Kernel& kernel : kernels.kernels) times.push_back(timer.time_of(kernel));
  return times;
}

}  // namespace jointer::kernels
