#pragma once

// Decompositions of the layer norm, its gradient, and the gradient of GELU.
// Source: torch/_refs/__init__.py (native_layer_norm), torch/_decomp/decompositions.py.

#include <array>
#include <cstdint>

#include "core/kernels/fx_builder.h"

namespace jointer::kernels {

struct LayerNorm {
  FxId input, weight, bias;  // weight, bias: -1 if none
  std::int64_t normalized;   // number of dimensions
  double eps;
};
// The result, the mean, and 1 / sqrt(variance + eps).
std::array<FxId, 3> layer_norm(FxBuilder& builder, const LayerNorm& of);

struct LayerNormGradient {
  FxId gradient, input, mean, factor, weight, bias;  // weight, bias: -1 if none
  std::int64_t normalized;                           // number of dimensions
  std::array<bool, 3> wanted;  // the gradients of the input, the weight and the bias
};
// -1 for a gradient that is not requested, or whose weight or bias is missing.
std::array<FxId, 3> layer_norm_gradient(FxBuilder& builder, const LayerNormGradient& of);

FxId gelu_gradient(FxBuilder& builder, FxId gradient, FxId input, bool is_tanh);

}  // namespace jointer::kernels
