#include "views/session/kernels/snapshot_kernels.h"

#include <algorithm>
#include <set>
#include <utility>

#include "core/base/checked.h"
#include "core/cost/traffic.h"
#include "core/schedule/lifetimes.h"

namespace jointer::views {
namespace {

using Kind = kernels::Kernel::Kind;

std::int64_t ns_of_bytes(std::int64_t bytes, const DeviceDescription& device) {
  const double bytes_per_ns = device.memory_gbps * device.efficiency.memory;
  const double ns = bytes_per_ns > 0 ? static_cast<double>(bytes) / bytes_per_ns : 0;
  return saturating_round(std::max(ns, device.kernel_us * 1e3));
}

// One kernel for each operator that runs on the device.
KernelTotals totals_per_operator(const Snapshot& snapshot) {
  const Graph& graph = snapshot.graph;
  KernelTotals totals{.peak_bytes = snapshot.analysis.memory.peak_bytes()};
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (graph.is_collective_start(node)) ++totals.collectives;
    if (graph.is_asynchronous(node)) continue;
    const Traffic traffic = node_traffic(graph, node);
    if (traffic.kind != Traffic::Kind::kernel) continue;
    ++totals.kernels;
    if (snapshot.analysis.flops[id.index()].torch_registry != 0) continue;
    ++totals.memory_bound;
    totals.memory_bound_bytes = saturating_add(totals.memory_bound_bytes, traffic.bytes);
  }
  return totals;
}

}  // namespace

SnapshotKernels::SnapshotKernels(SnapshotPtr snapshot, std::vector<CompiledPart> parts)
    : snapshot_(std::move(snapshot)),
      parts_(std::move(parts)),
      is_counted_(snapshot_->graph.node_count()),
      per_operator_(totals_per_operator(*snapshot_)) {
  for (std::size_t part = 0; part < parts_.size(); ++part) {
    add_rows(part);
    totals_.peak_bytes = std::max(totals_.peak_bytes, peak_of(parts_[part]));
  }
}

void SnapshotKernels::add_rows(std::size_t part) {
  const Graph& graph = snapshot_->graph;
  const Analysis& analysis = snapshot_->analysis;
  const bool is_all_on_cpu = graph.main_device() == DeviceType::cpu;
  const std::vector<kernels::Kernel>& scheduled = parts_[part].scheduled.kernels;
  for (std::size_t i = 0; i < scheduled.size(); ++i) {
    const kernels::Kernel& kernel = scheduled[i];
    KernelRow& row = rows_.emplace_back(
        KernelRow{.part = static_cast<std::int32_t>(part), .kernel = static_cast<std::int32_t>(i)});
    row.launches = kernels::is_launch(kernel.kind) && (kernel.is_on_gpu || is_all_on_cpu);
    if (!row.launches) continue;
    const bool is_collective = kernel.kind == Kind::collective;
    const bool is_of_library = kernel.kind == Kind::external || kernel.kind == Kind::template_;
    bool has_flops = false, has_estimate = false;
    std::int64_t estimated_ns = 0;
    for (const NodeId id : kernel.nodes) {
      const std::int64_t ns = analysis.costs[id.index()].ns;
      has_flops = has_flops || analysis.flops[id.index()].torch_registry != 0;
      has_estimate = has_estimate || ns > 0;
      if ((!is_collective && !is_of_library) || is_counted_[id.index()]) continue;
      is_counted_[id.index()] = true;
      estimated_ns = saturating_add(estimated_ns, ns);
    }
    row.is_memory_bound = kernels::is_memory_bound(kernel, has_flops);
    row.is_time_of_nodes = is_collective || (is_of_library && has_estimate);
    row.ns = row.is_time_of_nodes ? estimated_ns : ns_of_bytes(kernel.bytes, analysis.device);
    total_ns_ = saturating_add(total_ns_, row.ns);
    ++(is_collective ? totals_.collectives : totals_.kernels);
    if (!row.is_memory_bound) continue;
    ++totals_.memory_bound;
    totals_.memory_bound_bytes = saturating_add(totals_.memory_bound_bytes, kernel.bytes);
  }
}

// The kernels' peak counts inputs that the program may free. The analysis counts other memory:
// storages that live
// throughout the step. Each storage counts once.
std::int64_t SnapshotKernels::peak_of(const CompiledPart& part) const {
  const Graph& graph = snapshot_->graph;
  const MemoryTimeline& memory = snapshot_->analysis.memory;
  const bool is_torch = memory.options().rules == MemoryRules::torch;
  const auto steps = static_cast<std::int32_t>(memory.steps().size());
  std::int64_t bytes = saturating_add(part.scheduled.peak, memory.static_bytes());
  std::set<std::size_t> seen;
  for (const kernels::Buffer& buffer : part.ir.buffers) {
    if (!buffer.is_input) continue;
    const NodeId input = graph.find(part.part, buffer.name);
    if (!input || graph.tensors(input).empty()) continue;
    const Tensor& tensor = graph.tensors(input).front();
    if (!tensor.storage) continue;
    const auto index = memory.lifetime_of(counted_storage(graph, tensor, is_torch));
    if (!index || !seen.insert(*index).second) continue;
    const Lifetime& lifetime = memory.lifetimes()[*index];
    const bool is_static = lifetime.first < 0 && lifetime.last >= steps;
    if (is_static && buffer.may_be_freed) bytes = saturating_add(bytes, -lifetime.bytes);
    if (!is_static && !buffer.may_be_freed) bytes = saturating_add(bytes, lifetime.bytes);
  }
  return bytes;
}

}  // namespace jointer::views
