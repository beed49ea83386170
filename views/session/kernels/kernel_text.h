#pragma once

#include <QString>
#include <QStringList>
#include <optional>

#include "core/kernels/kernels.h"
#include "views/session/kernels/snapshot_kernels.h"

namespace jointer::views {

// Text for predicted kernels, the same in every pane.

QString kernel_kind_text(kernels::Kernel::Kind kind);
// The operators that run in a kernel, as Inductor names it: "mm", or "fused mul, silu_backward".
// Views are left out, and so are operators after the first few: "fused add, mul, pow, mean, rsqrt
// +2".
QString kernel_name(const Graph& graph, const kernels::Kernel& kernel);
// "2,255 kernels, 145 collectives · 2,110 bound by memory, 216 GiB · peak 43.2 GiB"
QString kernel_totals_text(const KernelTotals& totals);
// "memory", "compute", "launch", ... Empty if it is unknown, or nothing is launched.
QString kernel_limit_text(const SnapshotKernels& of, std::size_t row);
// Bytes read and written per nanosecond, which are GB/s. Nothing for collectives, whose bytes move
// over the network, and for kernels that launch nothing.
std::optional<std::int64_t> kernel_gbps(const SnapshotKernels& of, std::size_t row);
// "kernel 12 of 2,255"
QString kernel_number_text(const SnapshotKernels& of, std::size_t row);
// Hover text: the name, then number, kind, nodes, bytes with their rate, time, bound and share.
QStringList kernel_card_lines(const SnapshotKernels& of, std::size_t row);

}  // namespace jointer::views
