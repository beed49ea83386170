#pragma once

// Writes a finished lowering as operations with accesses: loops in the order of the strides,
// positions over them, bytes. Dependencies from mutations and between collectives are added by
// access_order.h. On the CPU, loops that are contiguous in memory are merged, for the op and then
// for each access. Source: torch/_inductor/ir.py (ComputedBuffer.simplify_and_reorder),
// torch/_inductor/scheduler.py (SchedulerNode._compute_attrs), torch/_inductor/dependencies.py.

#include "core/kernels/ir.h"
#include "core/kernels/lowering_state.h"

namespace jointer::kernels {

Ir make_operations(Lowering& lowering, CancellationPoll& poll);

}  // namespace jointer::kernels
