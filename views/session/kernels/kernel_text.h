#pragma once

#include <QString>
#include <QStringList>
#include <optional>

#include "core/kernels/kernels.h"
#include "views/session/kernels/snapshot_kernels.h"

namespace jointer::views {

// Text for kernels, the same in every pane.

QString kernel_kind_text(kernels::Kernel::Kind kind);
// The operators that run in a kernel, in the style of Inductor's names: "mm", or "fused mul,
// silu_backward". Leaves out operators after the first few, "fused add, mul, pow, mean, rsqrt +2",
// and views, unless there is nothing else.
QString kernel_name(const Graph& graph, const kernels::Kernel& kernel);
// "2,255 kernels, 145 collectives · 2,110 memory-bound (216 GiB read and written) · peak 43.2 GiB"
QString kernel_totals_text(const KernelTotals& totals);
// The kernel's bound: "memory", "compute", "launch", ... Empty if it is unknown, or if the kernel
// launches nothing.
QString kernel_limit_text(const SnapshotKernels& of, std::size_t row);
// The rate at which a kernel reads and writes memory, in GB/s (bytes per nanosecond). nullopt for
// collectives, whose bytes move over the network, and for kernels that launch nothing, take no
// time, or have an unknown time.
std::optional<std::int64_t> kernel_gbps(const SnapshotKernels& of, std::size_t row);
// "reads 1.2 GiB, writes 400 MiB · 2,100 GB/s"; without the rate where kernel_gbps has none.
QString kernel_bytes_text(const SnapshotKernels& of, std::size_t row);
// "4.00 us, the median of 3 runs": the measured time of a kernel, or why there is none. Empty if
// times are estimated, or nothing is launched.
QString measured_time_text(const SnapshotKernels& of, std::size_t row);
// "kernel 12 of 2,255"
QString kernel_number_text(const SnapshotKernels& of, std::size_t row);
// Hover text: the name, then number, kind, nodes, bytes with their rate, the measured time if
// kernels are measured, the estimated time with its bound, share of the time of all kernels, and
// time above the roofline.
QStringList kernel_card_lines(const SnapshotKernels& of, std::size_t row);

}  // namespace jointer::views
