#pragma once

// Decompositions that need only the arguments of a call: activations, losses and their gradients,
// reductions, shapes, indexing, convolutions, batch and group norms, pooling. Each names an
// operator and a function that appends the nodes to a graph.

#include <span>
#include <string_view>

#include "core/base/torch_version.h"
#include "core/kernels/call_arguments.h"
#include "core/kernels/fx_builder.h"

namespace jointer::kernels {

// Returns the call's results, -1 for one that is not a tensor; empty if the call becomes a fallback
// with these arguments, that is, if Inductor calls the operator's eager kernel.
using Decompose = FxIds (*)(FxBuilder&, const CallArguments&, TorchVersion);

struct Decomposition {
  std::string_view packet;  // "aten.leaky_relu"
  Decompose decompose = nullptr;
};

std::span<const Decomposition> activation_decompositions();
std::span<const Decomposition> gradient_decompositions();
std::span<const Decomposition> reduction_decompositions();
std::span<const Decomposition> shape_decompositions();
std::span<const Decomposition> index_decompositions();
std::span<const Decomposition> channel_decompositions();
std::span<const Decomposition> batch_norm_decompositions();
std::span<const Decomposition> pool_decompositions();

}  // namespace jointer::kernels
