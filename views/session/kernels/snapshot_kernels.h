#pragma once

// The kernels of a snapshot's graph, as Jointer predicts them, as Inductor's scheduler reports
// them, or as a compilation has made them, perhaps with times from a trace: their order, their
// times, and their totals next to those of one kernel per operator.
//
// Terms
//   part    a graph that Inductor compiles: the snapshot's graph, or each half of a pair
//   bound   by memory: every kernel that launches, except collectives, and except templates and
//           library calls that have FLOPs, and the loops that complete such a call
//           (kernels::is_memory_bound)
//   time    as core/compiled/kernel_times.h estimates it or, for kernels that are tied to a trace
//           (tied_trace.h), as measured
//   peak    of a part: the kernels' peak, plus the memory that it does not count because the
//           compiled program never frees it (parameters, optimizer state, tangents). A pair's peak
//           is that of the larger half.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/capture/compiled_kernels.h"
#include "core/capture/measured_kernels.h"
#include "core/compiled/compiled_part.h"
#include "core/cost/estimator.h"
#include "core/kernels/kernels.h"
#include "views/session/snapshot/snapshot.h"

namespace jointer::views {

using jointer::CompiledPart;
using jointer::StatedRefusal;

// The compilation that produced the kernels of a part: one kernel for each call in `program`.
struct Compilation {
  std::shared_ptr<const CompiledProgram> program;
  // The numbers of the graph's calls in kernels, of kernels without such a call, and of calls that
  // no kernel computes.
  std::size_t tied_calls = 0, untied_kernels = 0, calls_without_kernel = 0;
};

// The trace in which the kernels of a part were measured, and what was found in it.
struct PartMeasurement {
  std::shared_ptr<const CompiledTrace> trace;
  MeasuredKernels ties;  // `ties.kernels`: by kernel of the part

  [[nodiscard]] const TracedGraph& graph() const { return trace->graphs[ties.graph]; }
};

// A kernel. Rows are in the order in which kernels run.
struct KernelRow {
  // Indices in SnapshotKernels::parts, and in the part's kernels.
  std::int32_t part = 0, kernel = 0;
  bool launches = false;  // runs on the device; false for views, waits and the like
  bool is_memory_bound = false;
  bool is_time_of_nodes = false;  // `ns` is the sum of its nodes' estimates
  // True if `ns` is a measured time: 0 if the kernel is part of another one's C++ function. If
  // kernels are measured, the time of the others is unknown: they were not found in the trace, or
  // they are collectives on the CPU, whose calls only start them.
  bool is_measured = false;
  std::int64_t ns = 0;
  std::int64_t estimated_ns = 0;  // `ns` unless kernels are measured
  // The bytes that move in `ns`: the kernel's, and those of the other kernels in its C++ function.
  std::int64_t timed_bytes = 0;
  NodeCost::Limit limit = NodeCost::Limit::none;
  // The time at the device's peak rates, without launches; at most `ns`. `ns - roofline_ns` is the
  // time above the roofline.
  std::int64_t roofline_ns = 0;
};

struct KernelTotals {
  std::int64_t kernels = 0;  // on the device, without collectives
  std::int64_t collectives = 0;
  std::int64_t memory_bound = 0;        // kernels
  std::int64_t memory_bound_bytes = 0;  // read and written by them
  std::int64_t peak_bytes = 0;
  friend bool operator==(const KernelTotals&, const KernelTotals&) = default;
};

class SnapshotKernels {
 public:
  // `parts`: the graph, or the halves of a pair, the forward first; one half may be missing.
  // `compilations`: for each part, the one that made its kernels; empty if the kernels are not
  // those of a compilation.
  // `measurements`: by part; empty if times are estimated.
  SnapshotKernels(SnapshotPtr snapshot, std::vector<CompiledPart> parts,
                  std::vector<Compilation> compilations = {},
                  std::vector<PartMeasurement> measurements = {});

  [[nodiscard]] const SnapshotPtr& snapshot() const { return snapshot_; }
  [[nodiscard]] const std::vector<CompiledPart>& parts() const { return parts_; }

  // All kernels in the order in which they run; for a pair, the forward's come first.
  [[nodiscard]] std::span<const KernelRow> rows() const { return rows_; }
  [[nodiscard]] const CompiledPart& part_of(std::size_t row) const {
    return parts_[static_cast<std::size_t>(rows_[row].part)];
  }
  [[nodiscard]] const kernels::Kernel& kernel(std::size_t row) const {
    return part_of(row).scheduled.kernels[static_cast<std::size_t>(rows_[row].kernel)];
  }
  // The compilations, by part; empty if the kernels are not those of a compilation.
  [[nodiscard]] const std::vector<Compilation>& compilations() const { return compilations_; }
  [[nodiscard]] bool is_compiled() const { return !compilations_.empty(); }
  // The measurements, by part; empty if times are estimated.
  [[nodiscard]] const std::vector<PartMeasurement>& measurements() const { return measurements_; }
  [[nodiscard]] bool is_measured() const { return !measurements_.empty(); }
  // The trace that a kernel was looked up in; null if times are estimated.
  [[nodiscard]] const PartMeasurement* measurement_of(std::size_t row) const {
    return is_measured() ? &measurements_[static_cast<std::size_t>(rows_[row].part)] : nullptr;
  }
  // True if the kernel launches and its time is known (KernelRow::is_measured).
  [[nodiscard]] bool has_time(std::size_t row) const {
    return rows_[row].launches && (!is_measured() || rows_[row].is_measured);
  }
  // The compiled program that contains a kernel, and its call of the kernel; null if the kernels
  // are not those of a compilation.
  [[nodiscard]] const CompiledProgram* program_of(std::size_t row) const {
    return is_compiled() ? compilations_[static_cast<std::size_t>(rows_[row].part)].program.get()
                         : nullptr;
  }
  [[nodiscard]] const CompiledKernel* compiled(std::size_t row) const {
    const CompiledProgram* program = program_of(row);
    return program == nullptr ? nullptr
                              : &program->kernels[static_cast<std::size_t>(rows_[row].kernel)];
  }

  // The names of kernels, by row: "fused mul, exp" (kernel_text.h), or the compilation's name.
  [[nodiscard]] const std::vector<std::string>& names() const { return *names_; }
  [[nodiscard]] const ItemTexts& shared_names() const { return names_; }
  // The row of the first kernel that runs the node and launches something or, if there is none, of
  // the first one that runs the node; -1 for nodes that run in no kernel.
  [[nodiscard]] std::int32_t row_of(NodeId node) const {
    return node && node.index() < row_by_node_.size() ? row_by_node_[node.index()] : -1;
  }
  // The row of the first kernel of the part that a row belongs to.
  [[nodiscard]] std::size_t first_row_of_part(std::size_t row) const {
    return row - static_cast<std::size_t>(rows_[row].kernel);
  }
  // The sum of the times of all kernels that launch. It is not the step time, since collectives
  // overlap with other kernels.
  [[nodiscard]] std::int64_t total_ns() const { return total_ns_; }

  [[nodiscard]] const KernelTotals& totals() const { return totals_; }
  [[nodiscard]] const KernelTotals& per_operator() const { return per_operator_; }

 private:
  void add_rows(std::size_t part);
  void measure(std::size_t part, std::size_t first_row);
  void find_rows_of_nodes();
  void find_names();

  SnapshotPtr snapshot_;
  std::vector<CompiledPart> parts_;
  std::vector<Compilation> compilations_;
  std::vector<PartMeasurement> measurements_;
  std::vector<KernelRow> rows_;
  std::vector<std::int32_t> row_by_node_;
  ItemTexts names_;
  std::int64_t total_ns_ = 0;
  KernelTotals totals_, per_operator_;
};
using SnapshotKernelsPtr = std::shared_ptr<const SnapshotKernels>;

}  // namespace jointer::views
