#include "core/kernels/decomposed_layer_norm.h"

namespace jointer::kernels {

std::array<FxId, 3> layer_norm(FxBuilder& builder, const LayerNorm& of) {
  const DType type = builder.dtype(of.input);
  const FxId x = builder.to_computation_type(of.input);
  const Sizes dims = NormDims(builder.shape(x), of.normalized).inner;
  const auto [variance, mean] = builder.moments(x, dims);
  const FxId factor = builder.pointwise("rsqrt", {builder.pointwise("add", {variance}, {of.eps})});
  FxId result = builder.pointwise("mul", {builder.pointwise("sub", {x, mean}), factor});
  if (of.weight >= 0) result = builder.pointwise("mul", {result, of.weight});
  if (of.bias >= 0) result = builder.pointwise("add", {result, of.bias});
  return {builder.convert(result, type), mean, factor};
}

std::array<FxId, 3> layer_norm_gradient(FxBuilder& builder, const LayerNormGradient& of) {
  const DType wide = computation_type(builder.dtype(of.input));
  const FxId dy = builder.convert(of.gradient, wide), x = builder.convert(of.input, wide);
  const FxId weight = of.weight < 0 ? of.weight : builder.convert(of.weight, wide);
  const std::int64_t rank = builder.rank(x);
  const NormDims dims(builder.shape(x), of.normalized);
  FxId mean = of.mean, factor = of.factor;
  while (builder.rank(mean) < rank) mean = builder.unsqueeze(mean, builder.rank(mean));
  while (builder.rank(factor) < rank) factor = builder.unsqueeze(factor, builder.rank(factor));
  const FxId x_hat = builder.pointwise("mul", {builder.pointwise("sub", {x, mean}), factor});
  const FxId dx_hat = weight >= 0 ? builder.pointwise("mul", {dy, weight}) : dy;
  const FxId a = builder.pointwise("mul", {dx_hat}, {dims.count});
  const FxId b = builder.reduce("sum", dx_hat, dims.inner, true, wide);
  const FxId both =
      builder.reduce("sum", builder.pointwise("mul", {dx_hat, x_hat}), dims.inner, true, wide);
  const FxId c = builder.pointwise("mul", {x_hat, both});
  const FxId rest = builder.pointwise("sub", {builder.pointwise("sub", {a, b}), c});
  std::array<FxId, 3> result{-1, -1, -1};
  if (of.wanted[0]) {
    const FxId scale = builder.pointwise("truediv", {factor}, {dims.count});
    result[0] = builder.pointwise("mul", {scale, rest});
  }
  if (of.wanted[1] && weight >= 0) {
    result[1] = builder.pointwise("mul", {dy, x_hat});
    if (!dims.outer.empty()) result[1] = builder.reduce("sum", result[1], dims.outer, false, wide);
  }
  if (of.wanted[2] && of.bias >= 0)
    result[2] = dims.outer.empty() ? builder.dense_copy(dy)
                                   : builder.reduce("sum", dy, dims.outer, false, wide);
  const std::array types{of.input, of.weight, of.bias};
  for (std::size_t i = 0; i < result.size(); ++i)
    if (result[i] >= 0) result[i] = builder.convert(result[i], builder.dtype(types[i]));
  return result;
}

FxId gelu_gradient(FxBuilder& builder, FxId gradient, FxId input, bool is_tanh) {
  constexpr double kRootHalf = 0.70710678118654752, kBeta = 0.79788456080286536, kKappa = 0.044715;
  const DType type = builder.dtype(gradient);
  const FxId dy = builder.to_computation_type(gradient), x = builder.to_computation_type(input);
  const auto times = [&](FxId a, FxId b) { return builder.pointwise("mul", {a, b}); };
  const auto scaled = [&](FxId a, double factor) {
    return builder.pointwise("mul", {a}, {factor});
  };
  const auto plus = [&](FxId a, double number) { return builder.pointwise("add", {a}, {number}); };
  FxId slope = -1;
  if (is_tanh) {
    const FxId square = times(x, x), cube = times(square, x);
    const FxId inner = scaled(builder.pointwise("add", {x, scaled(cube, kKappa)}), kBeta);
    const FxId tanh = builder.pointwise("tanh", {inner});
    const FxId left = scaled(x, 0.5), left_slope = scaled(plus(tanh, 1), 0.5);
    const FxId tanh_slope = builder.pointwise("sub", {times(tanh, tanh)}, {1.0});
    const FxId inner_slope = scaled(plus(scaled(square, 3 * kKappa), 1), kBeta);
    slope = builder.pointwise("add", {left_slope, times(times(left, tanh_slope), inner_slope)});
  } else {
    const FxId erf = builder.pointwise("erf", {scaled(x, kRootHalf)});
    const FxId share = scaled(plus(erf, 1), 0.5);
    const FxId density = scaled(builder.pointwise("exp", {scaled(times(x, x), -0.5)}), kBeta / 2);
    slope = builder.pointwise("add", {share, times(x, density)});
  }
  return builder.convert(times(dy, slope), type);
}

}  // namespace jointer::kernels
