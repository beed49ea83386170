#pragma once

// Inductor's passes that change the order of kernels so that compute hides collectives: the passes
// that `torch._inductor.config.reorder_for_compute_comm_overlap_passes` may name.
//
// They run between Inductor's order for low memory and `simple_overlap`, on the kernels that
// core/kernels predicts. Each pass follows torch 2.15 or, where an earlier version of torch is
// given and differs, that version, so that the order is the one that torch would choose. The passes
// in passes/reordering are their counterparts on nodes, with the deviations that they state.
//
// Source: torch._inductor.comms. Deviation: the kernels are those of a compilation without
// `reorder_for_compute_comm_overlap`, without which torch does not run the passes; with it, torch
// also keeps slices of everything and does not fuse the copy that an all_reduce writes to.

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/base/torch_version.h"
#include "core/kernels/kernels.h"
#include "core/pass/parameter.h"
#include "core/pass/pipeline_text.h"

namespace jointer {

class KernelUnits;

// The reason why a kernel that a pass moved went no further (`limiting_factor`).
enum class KernelLimit : std::uint8_t {
  none,               // the end of the order, or the pass is a list schedule
  hidden,             // enough compute hides the collective
  collective_order,   // collectives keep their order
  data_dependency,    // it needs the neighbor's data, or the neighbor its data
  waits_exposed,      // waits in its group would lose more overlap than it would gain
  candidate_exposed,  // the neighbor's collective would be exposed for longer
  group_exposed,      // collectives in its group would lose more overlap than it would gain
  collective_ahead,   // waits do not move past other collectives
  memory,             // the peak would exceed the budget
};
std::string_view to_string(KernelLimit limit);

// The move of one collective or wait: a row of the pass's table. Times are torch's estimates in
// milliseconds, multiplied by the pass's factors, if it has any.
struct KernelPassMove {
  kernels::OpId op = -1;        // the collective or wait
  double communication_ms = 0;  // of the collective
  double compute_ms = 0;        // of the kernels that overlap with it, in the end
  double initial_exposed_ms = 0, final_exposed_ms = 0;  // negative: surplus of compute
  std::int64_t moves = 0;                               // kernels that it has passed
  std::int64_t grouped = 0;                             // kernels that moved with it
  KernelLimit limit = KernelLimit::none;
  kernels::OpId at = -1;         // first op of the kernel that stopped it; -1: no kernel
  std::string why;               // more about the limit; may be empty
  std::int64_t overlapping = 0;  // kernels that `compute_ms` counts
  kernels::OpId end = -1;        // first op of the kernel where the sum ended; -1: none

  [[nodiscard]] double improvement_ms() const { return initial_exposed_ms - final_exposed_ms; }
};
// A sentence that says what stopped the kernel. `name`: the name of the kernel that contains
// `move.at`.
std::string limit_sentence(const KernelPassMove& move, std::string_view name);

struct KernelPassReport {
  std::string pass;
  std::vector<KernelPassMove> moves;  // in the order in which the pass visited them
  std::vector<kernels::OpId> order;   // first ops of the kernels, as the pass ordered them
  std::int64_t peak_before = 0, peak_after = 0;  // bytes, as `Kernels::peak`
};

struct KernelPass {
  std::string name, summary;
  std::vector<Parameter> parameters;
  // Returns the units in the new order and fills the report's `moves` and `peak_before`. The
  // arguments have been checked.
  std::function<std::vector<std::int32_t>(const KernelUnits& units, const Arguments& arguments,
                                          TorchVersion torch, KernelPassReport& report)>
      run;
};

KernelPass sink_waits_kernel_pass();
KernelPass raise_comms_kernel_pass();
KernelPass reorder_compute_for_overlap_kernel_pass();
KernelPass reorder_communication_preserving_peak_memory_kernel_pass();
KernelPass sink_waits_iterative_kernel_pass();
// All these passes, sorted by name.
std::vector<KernelPass> kernel_passes();

struct OrderedKernels {
  kernels::Kernels kernels;
  std::vector<KernelPassReport> reports;  // one for each pass that ran
};

// Schedules the kernels of an Ir with these passes. `ms_of_op`: indexed by op, the estimated time
// in milliseconds of the kernel that begins with this op (`torch_kernel_times`). Error (usage): a
// pass does not exist, or its arguments are invalid.
Result<OrderedKernels> order_kernels(const kernels::Ir& ir, TorchVersion torch,
                                     const Pipeline& passes, std::span<const double> ms_of_op);

}  // namespace jointer
