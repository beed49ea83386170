#include "views/session/kernels/snapshot_kernels.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/base/checked.h"
#include "core/base/index.h"
#include "core/compiled/compiled_lives.h"
#include "core/compiled/kernel_times.h"
#include "core/cost/traffic.h"
#include "core/schedule/memory_timeline.h"
#include "views/session/kernels/kernel_text.h"

namespace jointer::views {
namespace {

// The totals if each operator that runs on the device were one kernel.
KernelTotals totals_per_operator(const Snapshot& snapshot, const MemoryTimeline& operators) {
  const Graph& graph = snapshot.graph;
  KernelTotals totals{.peak_bytes = operators.peak_bytes()};
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

SnapshotKernels::SnapshotKernels(SnapshotPtr snapshot, std::vector<CompiledPart> parts,
                                 std::vector<Compilation> compilations,
                                 std::vector<PartMeasurement> measurements)
    : snapshot_(std::move(snapshot)),
      parts_(std::move(parts)),
      compilations_(std::move(compilations)),
      measurements_(std::move(measurements)) {
  const Analysis& analysis = snapshot_->analysis;
  // The analysis of a compiled step has the timeline of its kernels, not of its operators.
  std::optional<MemoryTimeline> made;
  if (analysis.compiled) made.emplace(snapshot_->graph, analysis.options.memory);
  const MemoryTimeline& operators = made ? *made : analysis.memory;
  per_operator_ = totals_per_operator(*snapshot_, operators);
  for (std::size_t part = 0; part < parts_.size(); ++part) {
    add_rows(part);
    totals_.peak_bytes =
        std::max(totals_.peak_bytes, compiled_peak(snapshot_->graph, operators, parts_[part]));
  }
  find_rows_of_nodes();
  find_names();
}

// Replaces the estimated times of a part with the measured ones.
void SnapshotKernels::measure(std::size_t part, std::size_t first_row) {
  const std::vector<KernelMeasurement>& kernels = measurements_[part].ties.kernels;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    KernelRow& row = rows_[first_row + i];
    row.is_measured = kernels[i].ns || kernels[i].counted_in >= 0;
    row.ns = kernels[i].ns.value_or(0);
    if (kernels[i].counted_in < 0) continue;
    KernelRow& function = rows_[first_row + as_index(kernels[i].counted_in)];
    function.timed_bytes = saturating_add(function.timed_bytes, row.timed_bytes);
    function.roofline_ns = saturating_add(function.roofline_ns, row.roofline_ns);
    row.timed_bytes = 0;
  }
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    KernelRow& row = rows_[first_row + i];
    row.roofline_ns = std::min(row.roofline_ns, row.ns);
  }
}

void SnapshotKernels::find_names() {
  std::vector<std::string> names;
  names.reserve(rows_.size());
  for (std::size_t row = 0; row < rows_.size(); ++row)
    names.push_back(compiled(row) != nullptr
                        ? compiled(row)->name
                        : kernel_name(snapshot_->graph, kernel(row)).toStdString());
  names_ = std::make_shared<const std::vector<std::string>>(std::move(names));
}

void SnapshotKernels::find_rows_of_nodes() {
  row_by_node_.assign(snapshot_->graph.node_count(), -1);
  for (std::size_t row = 0; row < rows_.size(); ++row)
    for (const NodeId node : kernel(row).nodes) {
      std::int32_t& at = row_by_node_[node.index()];
      const bool is_better =
          at < 0 || (!rows_[static_cast<std::size_t>(at)].launches && rows_[row].launches);
      if (is_better) at = static_cast<std::int32_t>(row);
    }
}

void SnapshotKernels::add_rows(std::size_t part) {
  const Analysis& analysis = snapshot_->analysis;
  const std::vector<kernels::Kernel>& scheduled = parts_[part].scheduled.kernels;
  const std::vector<kernels::KernelTime> times =
      kernels::kernel_times(snapshot_->graph, parts_[part].ir, parts_[part].scheduled,
                            analysis.costs_of_operators(), analysis.device);
  const std::size_t first_row = rows_.size();
  for (std::size_t i = 0; i < scheduled.size(); ++i) {
    const kernels::Kernel& kernel = scheduled[i];
    const kernels::KernelTime& time = times[i];
    rows_.push_back({.part = static_cast<std::int32_t>(part),
                     .kernel = static_cast<std::int32_t>(i),
                     .launches = time.is_launch,
                     .is_memory_bound = time.is_memory_bound,
                     .is_time_of_nodes = time.is_time_of_nodes,
                     .ns = time.ns,
                     .estimated_ns = time.ns,
                     .timed_bytes = kernel.bytes,
                     .limit = time.limit,
                     .roofline_ns = time.roofline_ns});
    if (!time.is_launch) continue;
    const bool is_collective = kernel.kind == kernels::Kernel::Kind::collective;
    ++(is_collective ? totals_.collectives : totals_.kernels);
    if (!time.is_memory_bound) continue;
    ++totals_.memory_bound;
    totals_.memory_bound_bytes = saturating_add(totals_.memory_bound_bytes, kernel.bytes);
  }
  if (is_measured()) measure(part, first_row);
  for (std::size_t row = first_row; row < rows_.size(); ++row)
    if (rows_[row].launches) total_ns_ = saturating_add(total_ns_, rows_[row].ns);
}

}  // namespace jointer::views
