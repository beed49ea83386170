#pragma once

// Bytes that a kernel reads and writes.
//
// Per buffer: the iterations of the kernel times its accesses to the buffer, at most the buffer's
// size. Several ops in one kernel count whole buffers. A buffer that does not leave its kernel
// counts nothing; nor does a result of an external kernel, which the kernel itself counts. An order
// without data counts as a read of the buffer, as in Inductor.
//
// Source: torch._inductor.scheduler (`BaseSchedulerNode.get_read_write_buffer_accesses`).

#include "core/kernels/kernels.h"
#include "core/kernels/scheduling.h"

namespace jointer::kernels {

// Sets the bytes of `kernel`, which is made of node `id`. Merges loops in the table of accesses.
void count_bytes(Scheduling& scheduling, NodeIndex id, Kernel& kernel);

}  // namespace jointer::kernels
