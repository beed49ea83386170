#pragma once

#include <QString>

#include "core/kernels/kernels.h"
#include "views/session/kernels/snapshot_kernels.h"

namespace jointer::views {

// Text for kernels, the same in the table and below it.

QString kernel_kind_text(kernels::Kernel::Kind kind);
// The operators that run in a kernel, as Inductor names it: "mm", or "fused mul, silu_backward".
// Views are left out, and so are operators after the first few: "fused add, mul, pow, mean, rsqrt
// +2".
QString kernel_name(const Graph& graph, const kernels::Kernel& kernel);
// "2,255 kernels, 145 collectives · 2,110 bound by memory, 216 GiB · peak 43.2 GiB"
QString kernel_totals_text(const KernelTotals& totals);
// "memory", or what limits the longest node that runs in the kernel. Empty if it is unknown, or
// nothing is launched.
QString kernel_limit_text(const SnapshotKernels& of, std::size_t row);

}  // namespace jointer::views
