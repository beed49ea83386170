// Kernels that come from a template: attention with a score and a mask that the program defines.
//
// Such a kernel returns one tensor and fills others that were made for it; the score and the mask
// become part of the kernel, and so does what is computed element by element from its result.
//
// Source: torch/_inductor/kernel/flex/flex_attention.py (flex_attention, flex_attention_backward),
// torch/_inductor/ir.py (TritonTemplateBuffer), torch/_inductor/select_algorithm.py.
// Deviations: all tensors passed to the score and the mask count as read, used or not; queries
// shorter than 128 get the same kernel (`flex_decoding` in torch); gradients of what the score
// reads are not computed; attention on the CPU is a call.

#include <array>
#include <numbers>
#include <utility>

#include "core/kernels/lowering_state.h"
#include "core/kernels/slot.h"

namespace jointer::kernels {
namespace {

constexpr std::size_t kMaskTensors = 8;

}  // namespace

Box Lowering::add_template(std::string_view target, const FxTensor& result, Boxes inputs,
                           const Boxes& written) {
  OpState op = call_op(Op::Kind::template_, "TritonTemplateBuffer", target);
  op.is_on_gpu = result.is_on_gpu;
  for (Box& box : inputs) {
    if (box.view < 0) freeze(buffer_of(box));
    op.reads.push_back(buffer_of(box));
  }
  op.read_boxes = std::move(inputs);
  const BufferId id = add_buffer(result_buffer(result));
  op.outputs = {id};
  for (const Box& box : written) {
    add_mutation(op, buffer_of(box));
    mark_mutated(buffer_of(box));
  }
  add_op(std::move(op));
  return box_of_buffer(id);
}

Boxes Lowering::lower_flex_attention(const FxNode& of) {
  constexpr std::size_t kFirst = 3;  // after query, key and value
  Boxes inputs = arguments(of);
  for (Box& box : inputs)
    if (box.storage >= 0) box = realize_input(box);
  const Box log_sum = empty(of.results[1]), maximum = empty(of.results[2]);
  Boxes taken(inputs.begin(), inputs.begin() + kFirst);
  taken.push_back(log_sum);
  taken.push_back(maximum);
  for (std::size_t i = kFirst; i < kFirst + 4; ++i)
    taken.push_back(inputs[i].storage >= 0
                        ? inputs[i]
                        : empty({DType::float32, of.result().is_on_gpu, {0}, {1}}));
  taken.insert(taken.end(), inputs.begin() + kFirst + kMaskTensors, inputs.end());
  const Box result =
      add_template("flex_attention", of.result(), std::move(taken), {log_sum, maximum});
  return {result, log_sum, maximum};
}

Boxes Lowering::lower_flex_gradient(const FxNode& of) {
  constexpr std::size_t kResult = 3, kLogSum = 4, kGradient = 5, kLogSumGradient = 6, kFirst = 7;
  Boxes inputs = arguments(of);
  const auto realize_at = [&](std::size_t i) {
    if (inputs[i].storage >= 0) inputs[i] = realize_input(inputs[i]);
  };
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}, std::size_t{2}, kLogSum, kGradient})
    realize_at(i);
  for (std::size_t i = kFirst; i < kFirst + kMaskTensors; ++i) realize_at(i);
  // The sum of result times gradient, by row.
  const DType type = dtype(inputs[kResult]);
  const Box product_of_both = pointwise("mul", {inputs[kResult], inputs[kGradient]}, {}, type);
  const auto last = static_cast<std::int64_t>(shape(product_of_both).size()) - 1;
  Box delta = to_dtype(reduce("sum", product_of_both, {last}, false, type), DType::float32);
  if (inputs[kLogSumGradient].storage >= 0) {
    const std::array<double, 1> factor{1 / std::numbers::ln2};
    Box scaled = pointwise("mul", {inputs[kLogSumGradient]}, factor, DType::float32);
    scaled = require_contiguous(scaled);
    delta = pointwise("sub", {delta, scaled}, {}, DType::float32);
  }
  delta = require_contiguous(delta);
  delta = realize_input(delta);
  const Box query_gradient = empty(of.results[0]), value_gradient = empty(of.results[2]);
  Boxes taken{inputs[0], inputs[1],         inputs[2],      inputs[kLogSum],
              delta,     inputs[kGradient], query_gradient, value_gradient};
  // The mask's tensors for keys and values and for queries, then the same for full blocks.
  for (const std::size_t i : {0U, 1U, 4U, 5U, 2U, 3U, 6U, 7U}) {
    const Box& box = inputs[kFirst + i];
    taken.push_back(box.storage >= 0 ? box
                                     : empty({DType::float32, of.result().is_on_gpu, {0}, {1}}));
  }
  for (std::size_t i = kFirst + kMaskTensors; i < inputs.size(); ++i) {
    realize_at(i);
    taken.push_back(inputs[i]);
  }
  const Box key_gradient = add_template("flex_attention_backward", of.results[1], std::move(taken),
                                        {query_gradient, value_gradient});
  return {query_gradient, key_gradient, value_gradient};
}

}  // namespace jointer::kernels
