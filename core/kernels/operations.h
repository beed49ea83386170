#pragma once

// Turns a finished lowering into ops with accesses: puts loops in the order of the strides, and
// computes positions over them and bytes. access_order.h adds the dependencies due to mutations and
// between collectives. On the CPU, loops that are contiguous in memory are merged, for the op and
// then for each access. Source: torch/_inductor/ir.py (ComputedBuffer.simplify_and_reorder),
// torch/_inductor/scheduler.py (SchedulerNode._compute_attrs), torch/_inductor/dependencies.py.

#include "core/kernels/ir.h"
#include "core/kernels/lowering_state.h"

namespace jointer::kernels {

Ir make_operations(Lowering& lowering, CancellationPoll& poll);

}  // namespace jointer::kernels
