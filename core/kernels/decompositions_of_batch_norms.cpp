// The batch norm, in training and evaluation, and its gradient.
// Source: torch/_decomp/decompositions.py (native_batch_norm_helper, native_batch_norm_backward,
// cudnn_batch_norm, cudnn_batch_norm_backward).

#include <array>
#include <utility>

#include "core/kernels/decompositions.h"

namespace jointer::kernels {
namespace {

// [C] as [1, C, 1, ...] or, without a first dimension, as [C, 1, ...]
FxId as_channels(FxBuilder& b, FxId value, std::int64_t rank, bool has_batch) {
  Sizes sizes(static_cast<std::size_t>(has_batch ? rank : rank - 1), 1);
  sizes[has_batch ? 1 : 0] = product(b.shape(value));
  return sizes == b.shape(value) ? value : b.reshape(value, std::move(sizes));
}

// momentum * latest + (1 - momentum) * running
FxId moving_average(FxBuilder& b, FxId latest, FxId running, double momentum) {
  const FxId part = b.pointwise("mul", {latest}, {momentum});
  return b.pointwise("add", {part, b.pointwise("mul", {running}, {1 - momentum})});
}

void write_to(FxBuilder& b, FxId target, FxId value) {
  FxNode copy;
  copy.kind = FxKind::copy_in_place;
  copy.target = "aten.copy_.default";
  copy.inputs = {target, value};
  copy.results = {b.tensor(target)};
  b.add(std::move(copy));
}

struct BatchNorm {
  FxId value = -1, mean = -1, factor = -1;        // the result, and the saved statistics
  FxId running_mean = -1, running_variance = -1;  // updated; in evaluation, as given
};

BatchNorm training_norm(FxBuilder& b, const CallArguments& call, double eps, double momentum) {
  const FxId given = call.tensor("input"), x = b.to_computation_type(given);
  const std::int64_t rank = b.rank(x), channels = b.shape(x)[1],
                     count = product(b.shape(x)) / channels;
  Sizes dims;
  for (std::int64_t i = 0; i < rank; ++i)
    if (i != 1) dims.push_back(i);
  const auto [variance, mean] = b.moments(x, dims);
  const FxId factor = b.pointwise("rsqrt", {b.pointwise("add", {variance}, {eps})});
  BatchNorm made;
  made.value = b.pointwise("mul", {b.pointwise("sub", {given, mean}), factor});
  made.mean = b.reshape(mean, {channels}, "aten.squeeze.dims");
  made.factor = b.reshape(factor, {channels}, "aten.squeeze.dims");
  if (const FxId running = call.tensor("running_mean"); running >= 0)
    made.running_mean = moving_average(b, made.mean, running, momentum);
  if (const FxId running = call.tensor("running_var"); running >= 0) {
    const auto all = static_cast<double>(count);
    const FxId squeezed = b.reshape(variance, {channels}, "aten.squeeze.dims");
    const FxId unbiased = b.pointwise("mul", {squeezed}, {all / (all - 1)});
    made.running_variance = moving_average(b, unbiased, running, momentum);
  }
  return made;
}

BatchNorm evaluated_norm(FxBuilder& b, const CallArguments& call, double eps) {
  const FxId given = call.tensor("input");
  const FxTensor tensor = b.tensor(given);
  const DType wide = computation_type(tensor.dtype);
  const auto rank = static_cast<std::int64_t>(tensor.shape.size());
  BatchNorm made;
  made.running_mean = b.convert(call.tensor("running_mean"), wide);
  made.running_variance = b.convert(call.tensor("running_var"), wide);
  const FxId factor = b.pointwise("rsqrt", {b.pointwise("add", {made.running_variance}, {eps})});
  made.mean = tensor.is_on_gpu ? made.running_mean : b.full({0}, tensor.dtype, false, 0);
  made.factor = tensor.is_on_gpu ? factor : b.full({0}, tensor.dtype, false, 0);
  const FxId difference =
      b.pointwise("sub", {given, as_channels(b, made.running_mean, rank, false)});
  made.value = b.pointwise("mul", {difference, as_channels(b, factor, rank, false)});
  return made;
}

FxIds batch_norm(FxBuilder& b, const CallArguments& call, TorchVersion) {
  const FxId given = call.tensor("input");
  const FxTensor tensor = b.tensor(given);
  const std::string_view packet = call.packet();
  const auto rank = static_cast<std::int64_t>(tensor.shape.size());
  const bool is_training =
      packet != "aten._native_batch_norm_legit_no_training" && call.is_true("training", true);
  const bool has_statistics = call.tensor("running_mean") >= 0 && call.tensor("running_var") >= 0;
  if (rank < 2 || product(tensor.shape) == 0 || (!is_training && !has_statistics)) return {};
  const double eps = call.real(packet == "aten.cudnn_batch_norm" ? "epsilon" : "eps"),
               momentum = call.real(packet == "aten.cudnn_batch_norm" ? "exponential_average_factor"
                                                                      : "momentum");
  BatchNorm made =
      is_training ? training_norm(b, call, eps, momentum) : evaluated_norm(b, call, eps);
  const bool is_functional = packet == "aten._native_batch_norm_legit_functional";
  if (is_training && !is_functional) {
    if (made.running_mean >= 0) write_to(b, call.tensor("running_mean"), made.running_mean);
    if (made.running_variance >= 0) write_to(b, call.tensor("running_var"), made.running_variance);
  }
  if (const FxId weight = call.tensor("weight"); weight >= 0)
    made.value = b.pointwise("mul", {made.value, as_channels(b, weight, rank, false)});
  if (const FxId bias = call.tensor("bias"); bias >= 0)
    made.value = b.pointwise("add", {made.value, as_channels(b, bias, rank, false)});
  if (!tensor.is_on_gpu) {
    made.mean = b.convert(made.mean, tensor.dtype);
    made.factor = b.convert(made.factor, tensor.dtype);
  }
  FxIds results{b.convert(made.value, tensor.dtype), made.mean, made.factor};
  if (is_functional) {
    results.push_back(made.running_mean);
    results.push_back(made.running_variance);
  } else if (packet == "aten.cudnn_batch_norm") {
    results.push_back(b.full({0}, DType::uint8, tensor.is_on_gpu, 0));
  }
  return results;
}

FxIds batch_norm_gradient(FxBuilder& b, const CallArguments& call, TorchVersion) {
  const bool is_cudnn = call.packet() == "aten.cudnn_batch_norm_backward";
  const FxId given = call.tensor("input"), given_weight = call.tensor("weight");
  if (given < 0) return {};
  const DType type = b.dtype(given), weight_type = given_weight < 0 ? type : b.dtype(given_weight);
  const auto rank = b.rank(given);
  if (rank < 2 || product(b.shape(given)) == 0) return {};
  const bool is_training = is_cudnn || call.is_true("train");
  const FxId dy = b.to_computation_type(call.tensor(is_cudnn ? "grad_output" : "grad_out")),
             x = b.to_computation_type(given), weight = b.to_computation_type(given_weight);
  const FxId variance = b.to_computation_type(call.tensor("running_var"));
  FxId mean = b.to_computation_type(call.tensor(is_training ? "save_mean" : "running_mean"));
  FxId factor = b.to_computation_type(call.tensor(is_cudnn ? "save_var" : "save_invstd"));
  if (!is_training && variance >= 0)
    factor = b.pointwise("rsqrt", {b.pointwise("add", {variance}, {call.real("eps")})});
  if (mean < 0 || factor < 0 || dy < 0) return {};
  const DType wide = b.dtype(x);
  Sizes dims;
  for (std::int64_t i = 0; i < rank; ++i)
    if (i != 1) dims.push_back(i);
  const auto mul = [&](FxId left, FxId right) { return b.pointwise("mul", {left, right}); };
  const auto spread = [&](FxId value) { return as_channels(b, value, rank, true); };
  mean = spread(mean);
  const double share =
      static_cast<double>(b.shape(given)[1]) / static_cast<double>(product(b.shape(given)));
  const FxId sum = b.reduce("sum", dy, dims, false, wide);
  const FxId dot = b.reduce("sum", mul(dy, b.pointwise("sub", {x, mean})), dims, false, wide);
  const FxId mean_gradient = spread(b.pointwise("mul", {sum}, {share}));
  const FxId projection = spread(mul(b.pointwise("mul", {dot}, {share}), mul(factor, factor)));
  const FxId scale =
      weight < 0 ? b.pointwise("mul", {spread(factor)}, {1}) : spread(mul(factor, weight));
  FxId gradient = dy;
  if (is_training) {
    const FxId projected = mul(b.pointwise("sub", {x, mean}), projection);
    gradient = b.pointwise("sub", {b.pointwise("sub", {dy, projected}), mean_gradient});
  }
  gradient = mul(gradient, scale);
  const Sizes mask = call.integers("output_mask");
  const auto wants = [&](std::size_t i) { return i >= mask.size() || mask[i] != 0; };
  const FxId weight_gradient = wants(1) ? mul(dot, factor) : -1;
  return {b.convert(gradient, type),
          weight_gradient < 0 ? -1 : b.convert(weight_gradient, weight_type),
          wants(2) ? b.convert(sum, weight_type) : -1};
}

}  // namespace

std::span<const Decomposition> batch_norm_decompositions() {
  static constexpr std::array kAll = std::to_array<Decomposition>({
      {"aten._native_batch_norm_legit", batch_norm},
      {"aten._native_batch_norm_legit_functional", batch_norm},
      {"aten._native_batch_norm_legit_no_training", batch_norm},
      {"aten.cudnn_batch_norm", batch_norm},
      {"aten.cudnn_batch_norm_backward", batch_norm_gradient},
      {"aten.native_batch_norm", batch_norm},
      {"aten.native_batch_norm_backward", batch_norm_gradient},
  });
  return kAll;
}

}  // namespace jointer::kernels
