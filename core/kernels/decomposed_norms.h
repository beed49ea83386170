#pragma once

// Decompositions of softmax, SiLU and the RMS norm with their gradients, of GELU, and of the
// gradient of an embedding.
// Source: torch/_decomp/decompositions.py, torch/_inductor/decomposition.py.

#include <cstdint>
#include <utility>

#include "core/kernels/fx_builder.h"

namespace jointer::kernels {

// The parts of a softmax. On the GPU, a pattern replaces the maximum and the sum with one reduction
// that computes both (`prepare_softmax_pattern` in torch/_inductor/fx_passes/post_grad.py).
struct Softmax {
  FxId sum = -1, shifted = -1, exponential = -1;
};
// `has_origin`: nodes that the pattern makes have an origin (torch 2.12 and later).
Softmax softmax_parts(FxBuilder& builder, FxId input, std::int64_t dim, bool has_origin);
FxId softmax_gradient(FxBuilder& builder, FxId gradient, FxId output, std::int64_t dim, DType type);

FxId silu(FxBuilder& builder, FxId input);
// `has_sigmoid`: torch does not decompose the sigmoid (2.12 and later).
FxId silu_gradient(FxBuilder& builder, FxId gradient, FxId input, bool has_sigmoid);
FxId gelu(FxBuilder& builder, FxId input, bool is_tanh);

// The result, and the factor 1 / sqrt(mean of squares + eps). `normalized`: number of dimensions.
// `weight`: -1 if there is none.
std::pair<FxId, FxId> rms_norm(FxBuilder& builder, FxId input, std::int64_t normalized, FxId weight,
                               double eps);
struct RmsNormGradient {
  FxId gradient, input, factor, weight;
  std::int64_t normalized;
  bool wants_input, wants_weight;
};
// The gradients of the input and of the weight; -1 for one that is not requested, or if there is no
// weight.
std::pair<FxId, FxId> rms_norm_gradient(FxBuilder& builder, const RmsNormGradient& of);

// `is_masked`: as in torch 2.12 and later, which also skip indices that are out of range.
FxId embedding_gradient(FxBuilder& builder, FxId gradient, FxId indices, std::int64_t rows,
                        std::int64_t padding, bool is_masked);

}  // namespace jointer::kernels
