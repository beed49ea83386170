#pragma once

// The passes that Inductor runs on a decomposed graph before it lowers it.
//
// Steps
//   1. Selections of results that nothing reads are removed.
//   2. Calls that change nothing are removed (`remove_noop_ops`), such as copies of tensors with
//      the same strides, conversions to the same type, slices of whole dimensions. A copy stays if,
//      without it, an output would share the storage of an input or of another output, or if the
//      original is changed in place.
//   3. Repeated waits are removed (`deduplicate_wait_tensors`, not in 2.11).
//   4. On the GPU, the maximum and the sum of exponentials of a softmax become one call. This joins
//      calls that were decomposed before the graph was captured; the decomposition joins others.
//   5. A matrix product whose only reader adds to it becomes an addmm. On the GPU, it does not if
//      the reader adds a bias and the sum can be fused with its readers; an addmm of such a bias
//      becomes a product and a sum (in 2.12 and later, not at low precision).
//   6. index_put and all_reduce write to their input instead of to a copy if its storage belongs to
//      neither an input nor a constant of the graph, and nothing else reads it then or later
//      (`reinplace_inplaceable_ops`).
//
// Cost: linear in nodes, plus for each call of step 6 the views of the storage that it may write
// to. Source: torch/_inductor/fx_passes/post_grad.py, reinplace.py.
// Deviations: the patterns for padded or quantized matrix products and for concatenations of slices
// are left out. Views of one storage count as overlapping.

#include "core/base/torch_version.h"
#include "core/kernels/fx_graph.h"

namespace jointer::kernels {

// Fills `users`, too.
void run_post_grad_passes(FxGraph& graph, TorchVersion version);

}  // namespace jointer::kernels
