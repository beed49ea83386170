#include "core/kernels/decomposed_losses.h"

namespace jointer::kernels {
namespace {

// `value` where the target is not the ignored class, and 0 elsewhere.
FxId counted(FxBuilder& builder, const NllLoss& of, FxId target, FxId value) {
  const FxId counts =
      builder.pointwise("ne", {target}, {static_cast<double>(of.ignored)}, DType::boolean);
  const FxId zero = builder.full({}, builder.dtype(value), builder.tensor(value).is_on_gpu, 0);
  return builder.pointwise("where", {counts, value, zero}, {}, builder.dtype(value));
}

}  // namespace

FxId sigmoid_gradient(FxBuilder& builder, FxId gradient, FxId output) {
  const DType type = builder.dtype(gradient);
  const FxId dy = builder.to_computation_type(gradient), y = builder.to_computation_type(output);
  const FxId rest = builder.pointwise("sub", {y}, {1.0});
  const FxId slope = builder.pointwise("mul", {y, rest});
  return builder.convert(builder.pointwise("mul", {dy, slope}), type);
}

FxId tanh_gradient(FxBuilder& builder, FxId gradient, FxId output) {
  const DType type = builder.dtype(gradient);
  const FxId dy = builder.to_computation_type(gradient), y = builder.to_computation_type(output);
  const FxId rest = builder.pointwise("sub", {builder.pointwise("mul", {y, y})}, {1.0});
  return builder.convert(builder.pointwise("mul", {dy, rest}), type);
}

FxId log_softmax_gradient(FxBuilder& builder, FxId gradient, FxId output, std::int64_t dim,
                          DType type) {
  const FxId exponential = builder.pointwise("exp", {output});
  const FxId sum = builder.reduce("sum", gradient, {dim}, true, builder.dtype(gradient));
  const FxId scaled = builder.pointwise("mul", {exponential, sum});
  return builder.convert(builder.pointwise("sub", {gradient, scaled}), type);
}

std::pair<FxId, FxId> nll_loss(FxBuilder& builder, const NllLoss& of) {
  const std::int64_t channel = builder.rank(of.input) < 2 ? 0 : 1;
  const FxId safe = builder.unsqueeze(counted(builder, of, of.target, of.target), channel);
  FxNode gathered;
  gathered.kind = FxKind::gather;
  gathered.target = "aten.gather.default";
  gathered.inputs = {of.input, safe};
  gathered.numbers = {channel};
  const FxTensor input = builder.tensor(of.input);
  gathered.results = {
      {input.dtype, input.is_on_gpu, builder.shape(safe), dense_strides(builder.shape(safe))}};
  const FxId picked =
      builder.reshape(builder.add(std::move(gathered)), Sizes(builder.shape(of.target)));
  FxId loss = counted(builder, of, of.target, builder.pointwise("neg", {picked}));
  if (of.reduction == LossReduction::none && builder.rank(of.input) > 1)
    return {loss, builder.full({}, input.dtype, input.is_on_gpu, 0)};
  const FxId counts =
      builder.pointwise("ne", {of.target}, {static_cast<double>(of.ignored)}, DType::boolean);
  const FxId count =
      builder.convert(builder.reduce("sum", counts, {}, false, DType::int64), input.dtype);
  if (of.reduction != LossReduction::none)
    loss = builder.reduce("sum", loss, {}, false, input.dtype);
  if (of.reduction == LossReduction::mean) loss = builder.pointwise("truediv", {loss, count});
  return {loss, count};
}

FxId nll_loss_gradient(FxBuilder& builder, const NllLoss& of, FxId gradient, FxId count) {
  const std::int64_t channel = builder.rank(of.input) < 2 ? 0 : 1;
  FxId dy = gradient;
  if (of.reduction == LossReduction::mean) dy = builder.pointwise("truediv", {dy, count});
  const FxId target = builder.unsqueeze(of.target, channel);
  const FxId safe = counted(builder, of, target, target);
  const FxTensor input = builder.tensor(of.input);
  // -1 at the target's class.
  FxNode placed;
  placed.kind = FxKind::scatter;
  placed.target = "aten.scatter.value";
  placed.inputs = {builder.full(input.shape, input.dtype, input.is_on_gpu, 0), safe,
                   builder.full(builder.shape(safe), input.dtype, input.is_on_gpu, -1)};
  placed.numbers = {channel, 0};
  placed.results = {{input.dtype, input.is_on_gpu, input.shape, dense_strides(input.shape)}};
  const FxId scattered = builder.add(std::move(placed));
  if (builder.rank(of.input) > builder.rank(dy) && builder.rank(dy) > 0)
    dy = builder.unsqueeze(dy, channel);
  return builder.pointwise("mul", {scattered, counted(builder, of, target, dy)});
}

}  // namespace jointer::kernels
