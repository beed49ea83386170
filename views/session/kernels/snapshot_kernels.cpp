#include "views/session/kernels/snapshot_kernels.h"

#include <algorithm>
#include <set>
#include <utility>

#include "core/base/checked.h"
#include "core/compiled/kernel_times.h"
#include "core/cost/traffic.h"
#include "core/schedule/lifetimes.h"

namespace jointer::views {
namespace {

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
      per_operator_(totals_per_operator(*snapshot_)) {
  for (std::size_t part = 0; part < parts_.size(); ++part) {
    add_rows(part);
    totals_.peak_bytes = std::max(totals_.peak_bytes, peak_of(parts_[part]));
  }
}

void SnapshotKernels::add_rows(std::size_t part) {
  const Analysis& analysis = snapshot_->analysis;
  const std::vector<kernels::Kernel>& scheduled = parts_[part].scheduled.kernels;
  const std::vector<kernels::KernelTime> times = kernels::kernel_times(
      snapshot_->graph, parts_[part].ir, parts_[part].scheduled, analysis.costs, analysis.device);
  for (std::size_t i = 0; i < scheduled.size(); ++i) {
    const kernels::Kernel& kernel = scheduled[i];
    const kernels::KernelTime& time = times[i];
    rows_.push_back({.part = static_cast<std::int32_t>(part),
                     .kernel = static_cast<std::int32_t>(i),
                     .launches = time.is_launch,
                     .is_memory_bound = time.is_memory_bound,
                     .is_time_of_nodes = time.is_time_of_nodes,
                     .ns = time.ns});
    if (!time.is_launch) continue;
    total_ns_ = saturating_add(total_ns_, time.ns);
    const bool is_collective = kernel.kind == kernels::Kernel::Kind::collective;
    ++(is_collective ? totals_.collectives : totals_.kernels);
    if (!time.is_memory_bound) continue;
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
