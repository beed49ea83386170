// Convolutions and their gradients, which are external kernels.
// Source: torch/_inductor/kernel/conv.py (convolution, convolution_backward_lowering).

#include <algorithm>

#include "core/kernels/channels_last.h"
#include "core/kernels/lowering_state.h"
#include "core/kernels/slot.h"

namespace jointer::kernels {

bool Lowering::is_laid_out_last(const Sizes& sizes) const {
  return !with_channels_last.empty() && sizes.size() == 4;
}

Box Lowering::require_channels_last(Box& box) {
  return require_order(box, stride_order(channels_last_strides(shape(box))));
}

Box Lowering::lower_convolution(const FxNode& of) {
  constexpr std::size_t kTensors = 2;  // the input and the weight
  Boxes inputs = with_channels_last.empty() ? constrained(of) : arguments(of);
  FxTensor result = of.result();
  const bool is_last = is_laid_out_last(result.shape);
  if (is_last) result.stride = channels_last_strides(result.shape);
  for (std::size_t i = 0; i < kTensors; ++i) realize(inputs[i]);
  for (std::size_t i = 0; i < kTensors; ++i)
    if (shape(inputs[i]).size() == result.stride.size())
      inputs[i] = is_last ? require_channels_last(inputs[i])
                          : require_order(inputs[i], stride_order(result.stride));
  // On the GPU, a separate kernel adds the bias.
  const bool adds_bias = inputs.size() > kTensors && result.is_on_gpu;
  Boxes read(inputs.begin(), adds_bias ? inputs.begin() + kTensors : inputs.end());
  OpState op = call_op(Op::Kind::extern_, "ExternKernelAlloc", of.target);
  op.reads = call_inputs(read);
  BufferState made = result_buffer(result);
  made.allocates_itself = true;
  const Box value = add_call(std::move(op), std::move(made));
  if (!adds_bias) return value;
  Sizes sizes(result.shape.size() - 1, 1);
  sizes[0] = product(shape(inputs[kTensors]));
  return pointwise("add", {value, reshape(inputs[kTensors], sizes)}, {}, result.dtype);
}

Boxes Lowering::lower_convolution_gradient(const FxNode& of) {
  constexpr std::size_t kTensors = 3;  // the gradient, the input and the weight
  const bool is_last = is_laid_out_last(fx_.nodes[slot(of.inputs[0])].result().shape);
  Boxes inputs = with_channels_last.empty() || !is_new_torch() ? constrained(of) : arguments(of);
  for (const Box& box : inputs) realize(box);
  if (!is_last || !is_new_torch() || inputs.size() != kTensors) return call_library(of, inputs);
  const bool wants_input = of.numbers[1] != 0, wants_weight = of.numbers[2] != 0;
  if (wants_weight) {
    inputs[1] = require_channels_last(inputs[1]);
    inputs[0] = require_channels_last(inputs[0]);
  }
  if (wants_input) {
    inputs[0] = require_channels_last(inputs[0]);
    inputs[2] = require_channels_last(inputs[2]);
  }
  FxNode call = of;
  for (FxTensor& result : call.results)
    if (result.shape.size() == 4) result.stride = channels_last_strides(result.shape);
  return call_library(call, inputs);
}

}  // namespace jointer::kernels
