#pragma once

// The loops and calls that Inductor generates for a graph, before it fuses them.
//
// Result: the state of `torch._inductor` when fusion begins, with an H100 as the GPU: operations
// with their loops, the positions that they read and write, buffers with their bytes, and the order
// that mutations and collectives demand.
//
// Terms: a *box* is a tensor while the graph is lowered: a storage, seen through views. A storage
// holds loops that are not computed yet, or a buffer. To *realize* a storage is to make a buffer of
// its loops; loops that read loops take over their body instead (inlining).
//
// Steps
//   1. The capture is rewritten in terms of the operators that Inductor lowers (decompose.h), and
//      simplified (post_grad.h).
//   2. Each node is lowered: element-wise operations become loops, views become index arithmetic,
//      other calls become operations with buffers. Values become buffers where a call needs them,
//      where their loops have many operations or reads, and as outputs (lowering_*.cpp).
//   3. Strides that nothing has decided follow those of what the loops read.
//   4. Loops are put in the order of the strides, and reads and writes become accesses
//      (operations.cpp).
//   5. Collectives are chained, and mutations and aliases become dependencies (access_order.cpp).
//
// Cost: nearly linear in nodes and in the operations of loop bodies.
// Source: torch/_inductor/graph.py, ir.py, lowering.py, comm_lowering.py, scheduler.py
// (compute_dependencies). Deviations: sizes are the numbers that the capture assumes; nothing is
// autotuned, so matrix products and convolutions are external kernels, which call ATen
// (`max_autotune` makes templates of some); convolutions on the CPU keep the layout of the program;
// the gradient of an average over overlapping windows reads positions that count as known only at
// run time.

#include <functional>
#include <span>

#include "core/base/result.h"
#include "core/base/torch_version.h"
#include "core/graph/graph.h"
#include "core/kernels/ir.h"

namespace jointer::kernels {

// The graph must not be a pair. Its operators are lowered as in this version of torch.
Ir lower(const Graph& graph, TorchVersion version);
// Lowers one part of a graph, such as a half of a pair, as if it were a whole graph. Op::nodes are
// nodes of `graph`. `is_cancelled` may be empty. Error (cancelled): it returned true.
Result<Ir> lower(const Graph& graph, PartId part, TorchVersion version,
                 const std::function<bool()>& is_cancelled);
// Lowers only these calls, in their order, as if they were a whole graph. Values that they read
// from other nodes are its inputs, with the names of those nodes; `results`, some of the calls, are
// its outputs.
Result<Ir> lower(const Graph& graph, std::span<const NodeId> calls, std::span<const NodeId> results,
                 TorchVersion version, const std::function<bool()>& is_cancelled);

}  // namespace jointer::kernels
