#pragma once

// Rewrites a graph in terms of the operators that Inductor lowers.
//
// Result: the graph that `make_fx` traces of a capture with Inductor's table of decompositions. One
// call becomes one call (views, element-wise operations, collectives), several (norms, softmax,
// activations, gradients of embeddings) or none (calls that neither return nor change a tensor;
// numbers have the values that the capture assumes). An operator without a rule becomes a fallback:
// Inductor calls its eager kernel.
//
// Cost: linear in nodes.
// Source: torch/_inductor/decomposition.py (`select_decomp_table`),
// torch/_decomp/decompositions.py. Deviation: tensors within a decomposition have dense strides, in
// the axis order of the first input that has their shape.

#include <span>

#include "core/base/torch_version.h"
#include "core/graph/graph.h"
#include "core/kernels/fx_graph.h"

namespace jointer::kernels {

// `part` must be the only part of the graph, or a half of a pair.
FxGraph decompose(const Graph& graph, PartId part, TorchVersion version);
// Decomposes only these calls, in their order. Values that they read from other nodes are inputs
// with the names of those nodes; the values of `results` are the outputs.
FxGraph decompose(const Graph& graph, std::span<const NodeId> calls,
                  std::span<const NodeId> results, TorchVersion version);

}  // namespace jointer::kernels
