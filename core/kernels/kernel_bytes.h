#pragma once

// Bytes that a kernel reads and writes.
//
// Per buffer: the iterations of the kernel times its accesses to the buffer, at most the buffer's
// size. Kernels of several ops and external kernels count as 10^9 iterations, so they access whole
// buffers, if these have at most 10^9 elements. A buffer that does not leave its kernel is not
// counted. A kernel has no bytes if it computes nothing, only selects a result of an external
// kernel, which counts this result, or is a call of graphsafe_run_with_rng_state. A dependency that
// only orders counts as a read of the buffer. All of this is as in Inductor.
//
// Source: torch._inductor.scheduler (`BaseSchedulerNode.get_read_write_buffer_accesses`).

#include "core/kernels/kernels.h"
#include "core/kernels/scheduling.h"

namespace jointer::kernels {

// Sets `reads`, `writes` and the three counts of bytes of `kernel`, which is made of node `id`.
// Adds accesses with merged loops to the table of accesses.
void count_bytes(Scheduling& scheduling, NodeIndex id, Kernel& kernel);

}  // namespace jointer::kernels
