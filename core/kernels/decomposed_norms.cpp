#include "core/kernels/decomposed_norms.h"

namespace jointer::kernels {

Softmax softmax_parts(FxBuilder& builder, FxId input, std::int64_t dim, bool has_origin) {
  const FxId value = builder.to_computation_type(builder.contiguous(input));
  dim = wrapped_dim(dim, builder.rank(value));
  const NodeId origin = builder.origin;
  const FxTensor tensor = builder.tensor(value);
  Softmax parts;
  if (tensor.is_on_gpu && !tensor.shape.empty()) {
    if (!has_origin) builder.origin = NodeId();
    FxTensor reduced = tensor;
    reduced.shape[static_cast<std::size_t>(dim)] = 1;
    reduced.stride = dense_strides(reduced.shape);
    FxNode both = node_of(FxKind::online_softmax, "prims.prepare_softmax_online.default", {value},
                          {dim}, reduced);
    both.results.push_back(std::move(reduced));
    const auto [maximum, sum] = builder.add_two(std::move(both));
    parts.sum = sum;
    parts.shifted = builder.pointwise("sub", {value, maximum});
    parts.exponential = builder.pointwise("exp", {parts.shifted});
    builder.origin = origin;
    return parts;
  }
  const FxId maximum = builder.reduce("max", value, {dim}, true, tensor.dtype);
  parts.shifted = builder.pointwise("sub", {value, maximum});
  parts.exponential = builder.pointwise("exp", {parts.shifted});
  parts.sum = builder.reduce("sum", parts.exponential, {dim}, true, tensor.dtype);
  return parts;
}

FxId softmax_gradient(FxBuilder& builder, FxId gradient, FxId output, std::int64_t dim,
                      DType type) {
  const FxId dy = builder.to_computation_type(gradient), y = builder.to_computation_type(output);
  const FxId product_of_both = builder.pointwise("mul", {dy, y});
  const FxId sum =
      builder.reduce("sum", product_of_both, {dim}, true, builder.dtype(product_of_both));
  const FxId negative = builder.pointwise("neg", {y});
  const FxId result = builder.pointwise("fma", {negative, sum, product_of_both});
  return builder.contiguous(builder.convert(result, type));
}

FxId silu(FxBuilder& builder, FxId input) {
  const DType type = builder.dtype(input);
  const FxId x = builder.to_computation_type(input);
  const FxId exponential = builder.pointwise("exp", {builder.pointwise("neg", {x})});
  const FxId divisor = builder.pointwise("add", {exponential}, {1.0});
  return builder.convert(builder.pointwise("truediv", {x, divisor}), type);
}

FxId silu_gradient(FxBuilder& builder, FxId gradient, FxId input, bool has_sigmoid) {
  const DType type = builder.dtype(input);
  const FxId dy = builder.to_computation_type(gradient), x = builder.to_computation_type(input);
  FxId sigmoid = -1;
  if (has_sigmoid) {
    sigmoid = builder.pointwise("sigmoid", {x});
  } else {
    const FxId exponential = builder.pointwise("exp", {builder.pointwise("neg", {x})});
    const FxId inverse =
        builder.pointwise("reciprocal", {builder.pointwise("add", {exponential}, {1.0})});
    sigmoid = builder.pointwise("mul", {inverse}, {1.0});
  }
  const FxId scaled = builder.pointwise("mul", {dy, sigmoid});
  const FxId rest = builder.pointwise("sub", {sigmoid}, {1.0});
  const FxId factor = builder.pointwise("add", {builder.pointwise("mul", {x, rest})}, {1.0});
  return builder.convert(builder.pointwise("mul", {scaled, factor}), type);
}

FxId gelu(FxBuilder& builder, FxId input, bool is_tanh) {
  const DType type = builder.dtype(input);
  const FxId x = builder.to_computation_type(input);
  FxId inner = x;
  constexpr double kHalf = 0.5, kRootHalf = 0.70710678118654752, kBeta = 0.79788456080286536,
                   kKappa = 0.044715;
  if (is_tanh) {
    const FxId cube = builder.pointwise("mul", {builder.pointwise("mul", {x, x}), x});
    const FxId sum = builder.pointwise("add", {x, builder.pointwise("mul", {cube}, {kKappa})});
    inner = builder.pointwise("tanh", {builder.pointwise("mul", {sum}, {kBeta})});
  } else {
    inner = builder.pointwise("erf", {builder.pointwise("mul", {x}, {kRootHalf})});
  }
  const FxId half = builder.pointwise("mul", {x}, {kHalf});
  return builder.convert(builder.pointwise("mul", {half, builder.pointwise("add", {inner}, {1.0})}),
                         type);
}

std::pair<FxId, FxId> rms_norm(FxBuilder& builder, FxId input, std::int64_t normalized, FxId weight,
                               double eps) {
  const DType type = builder.dtype(input);
  const FxId x = builder.to_computation_type(input);
  Sizes dims;
  for (std::int64_t i = 0; i < normalized; ++i) dims.push_back(builder.rank(x) - i - 1);
  const FxId squares = builder.pointwise("pow", {x}, {2.0});
  const FxId mean = builder.reduce("sum", squares, dims, true, builder.dtype(x), true);
  const FxId factor = builder.pointwise("rsqrt", {builder.pointwise("add", {mean}, {eps})});
  FxId result = builder.pointwise("mul", {x, factor});
  if (weight >= 0) result = builder.pointwise("mul", {result, weight});
  const FxId whole = builder.contiguous(result);
  const FxId dense_factor = builder.contiguous(factor);
  return {builder.convert(whole, type), dense_factor};
}

std::pair<FxId, FxId> rms_norm_gradient(FxBuilder& builder, const RmsNormGradient& of) {
  const DType type = builder.dtype(of.input);
  const DType wide = computation_type(type);
  const auto cast = [&](FxId id) {
    return id < 0 ? id : builder.contiguous(builder.convert(id, wide));
  };
  const FxId dy = cast(of.gradient), x = cast(of.input), weight = cast(of.weight);
  const std::int64_t rank = builder.rank(x);
  const NormDims dims(builder.shape(x), of.normalized);
  FxId factor = of.factor;
  while (builder.rank(factor) < rank) factor = builder.unsqueeze(factor, builder.rank(factor));
  const FxId dx_hat = weight >= 0 ? builder.pointwise("mul", {dy, weight}) : dy;
  const FxId x_hat = builder.pointwise("mul", {x, factor});
  FxId dx = -1, dw = -1;
  if (of.wants_input) {
    const FxId sum =
        builder.reduce("sum", builder.pointwise("mul", {x_hat, dx_hat}), dims.inner, true, wide);
    const FxId scaled =
        builder.pointwise("mul", {builder.pointwise("truediv", {x_hat}, {dims.count}), sum});
    dx = builder.pointwise("mul", {builder.pointwise("sub", {dx_hat, scaled}), factor});
  }
  if (of.wants_weight && weight >= 0) {
    dw = builder.pointwise("mul", {dy, x_hat});
    if (!dims.outer.empty()) dw = builder.reduce("sum", dw, dims.outer, false, wide);
  }
  if (dx >= 0) dx = builder.convert(dx, type);
  if (dw >= 0) dw = builder.convert(dw, type);
  return {dx, dw};
}

FxId embedding_gradient(FxBuilder& builder, FxId gradient, FxId indices, std::int64_t rows,
                        std::int64_t padding, bool is_masked) {
  const DType type = builder.dtype(gradient);
  FxId dy = builder.to_computation_type(gradient);
  const FxId index = builder.convert(indices, DType::int64);
  const FxTensor tensor = builder.tensor(dy);
  Sizes sizes{rows};
  sizes.insert(sizes.end(), tensor.shape.begin() + static_cast<std::ptrdiff_t>(builder.rank(index)),
               tensor.shape.end());
  const auto widened = [&](FxId mask) {
    while (builder.rank(mask) < static_cast<std::int64_t>(tensor.shape.size()))
      mask = builder.unsqueeze(mask, builder.rank(mask));
    return mask;
  };
  FxNode put;
  put.results = {{tensor.dtype, tensor.is_on_gpu, sizes, dense_strides(sizes)}};
  if (is_masked) {
    const FxId low = builder.pointwise("ge", {index}, {0.0}, DType::boolean);
    const FxId high = builder.pointwise("lt", {index}, {static_cast<double>(rows)}, DType::boolean);
    const FxId valid = builder.pointwise("bitwise_and", {low, high});
    const FxId kept =
        builder.pointwise("ne", {index}, {static_cast<double>(padding)}, DType::boolean);
    const FxId mask = widened(builder.pointwise("bitwise_and", {valid, kept}));
    const FxId zeros = builder.full(sizes, tensor.dtype, tensor.is_on_gpu, 0);
    put.kind = FxKind::masked_index_add;
    put.target = "aten._unsafe_masked_index_put_accumulate.default";
    put.inputs = {zeros, dy, mask, index};
  } else {
    const FxId mask =
        widened(builder.pointwise("eq", {index}, {static_cast<double>(padding)}, DType::boolean));
    const FxId zero = builder.full({}, tensor.dtype, tensor.is_on_gpu, 0);
    dy = builder.pointwise("where", {mask, zero, dy}, {}, tensor.dtype);
    const FxId zeros = builder.full(sizes, tensor.dtype, tensor.is_on_gpu, 0);
    put.kind = FxKind::index_put;
    put.target = "aten.index_put.default";
    put.inputs = {zeros, dy, index};
    put.numbers = {1};
  }
  return builder.convert(builder.add(std::move(put)), type);
}

}  // namespace jointer::kernels
