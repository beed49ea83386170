#pragma once

// Decompositions of the negative log likelihood loss and its gradient, and of the gradients of
// sigmoid, tanh and log softmax.
// Source: torch/_decomp/decompositions.py.

#include <cstdint>
#include <utility>

#include "core/kernels/fx_builder.h"

namespace jointer::kernels {

FxId sigmoid_gradient(FxBuilder& builder, FxId gradient, FxId output);
FxId tanh_gradient(FxBuilder& builder, FxId gradient, FxId output);
FxId log_softmax_gradient(FxBuilder& builder, FxId gradient, FxId output, std::int64_t dim,
                          DType type);

enum class LossReduction : std::uint8_t { none, mean, sum };  // at::Reduction

struct NllLoss {
  FxId input, target;
  LossReduction reduction;
  std::int64_t ignored;  // targets of this class do not count
};
// The loss and the number of targets that count. As in torch, the number is 0 for a batch whose
// losses are not reduced.
std::pair<FxId, FxId> nll_loss(FxBuilder& builder, const NllLoss& of);
FxId nll_loss_gradient(FxBuilder& builder, const NllLoss& of, FxId gradient, FxId count);

}  // namespace jointer::kernels
