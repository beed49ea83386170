// Reductions: variances, norms, positions of extremes, sums of products.
// Source: torch/_inductor/lowering.py (var_mean_helper_, reduce_max), torch/_refs/__init__.py (all,
// std, logsumexp, dot), torch/_decomp/decompositions.py (mv, aminmax),
// torch/_refs/linalg/__init__.py (vector_norm).

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/kernels/decompositions.h"

namespace jointer::kernels {
namespace {

// The dimensions in the argument `dim`, or all if it is missing or empty; not negative.
Sizes dims_of(const FxBuilder& b, const CallArguments& call, FxId x) {
  Sizes dims = call.integers("dim");
  if (dims.empty()) {
    dims.resize(static_cast<std::size_t>(b.rank(x)));
    std::iota(dims.begin(), dims.end(), 0);
  }
  for (std::int64_t& dim : dims) dim = wrapped_dim(dim, b.rank(x));
  return dims;
}

FxId with_sizes(FxBuilder& b, FxId x, const FxTensor& result) {
  return b.shape(x) == result.shape ? x : b.reshape(x, result.shape);
}

// The variance and the mean, as a reduction that computes both.
std::array<FxId, 2> variance_and_mean(FxBuilder& b, FxId x, const Sizes& dims, double correction,
                                      bool keeps, bool has_mean) {
  double count = 1;
  FxTensor result = b.tensor(x);
  for (const std::int64_t dim : dims) {
    std::int64_t& size = result.shape[static_cast<std::size_t>(dim)];
    count *= static_cast<double>(std::exchange(size, keeps ? 1 : -1));
  }
  erase_if(result.shape, [](std::int64_t size) { return size < 0; });
  result.stride = dense_strides(result.shape);
  FxNode both = node_of(FxKind::moments, "aten.var_mean.correction", {x}, dims, result);
  both.op = has_mean ? "var_mean" : "var";
  both.scalars = {std::max(0.0, count - correction)};
  if (!keeps) both.scalars.push_back(1);
  both.results.push_back(std::move(result));
  return b.add_two(std::move(both));
}

FxIds variance(FxBuilder& b, const CallArguments& call, TorchVersion) {
  const FxId x = call.tensor("self");
  const double correction =
      call.has("unbiased") ? (call.is_true("unbiased") ? 1 : 0) : call.real("correction", 1);
  const bool has_mean = call.result_count() > 1;
  auto [value, mean] =
      variance_and_mean(b, x, dims_of(b, call, x), correction, call.is_true("keepdim"), has_mean);
  const std::string_view packet = call.packet();
  if (packet == "aten.std" || packet == "aten.std_mean") value = b.pointwise("sqrt", {value});
  if (!has_mean) return {value};
  return {value, mean};
}

FxId arg_reduce(FxBuilder& b, std::string_view op, FxId x, const Sizes& dims, bool keeps) {
  const FxId ordered = b.dtype(x) == DType::boolean ? b.convert(x, DType::int32) : x;
  return b.reduce(op, ordered, dims, keeps, DType::int64);
}

FxIds position_of_extreme(FxBuilder& b, const CallArguments& call, TorchVersion) {
  const FxId x = call.tensor("self");
  const bool is_max = call.packet() == "aten.argmax";
  return {with_sizes(
      b,
      arg_reduce(b, is_max ? "argmax" : "argmin", x, dims_of(b, call, x), call.is_true("keepdim")),
      call.result())};
}

// The extremes along a dimension and their positions; the extreme of all elements; or the
// element-wise extreme of two tensors.
FxIds extreme(FxBuilder& b, const CallArguments& call, TorchVersion version) {
  const FxId x = call.tensor("self");
  const bool is_max = call.packet() == "aten.max";
  if (call.tensor("other") >= 0)
    return {b.pointwise(is_max ? "maximum" : "minimum", {x, call.tensor("other")})};
  const std::string_view op = is_max ? "max" : "min";
  if (!call.has("dim")) return {b.reduce(op, x, {}, false, b.dtype(x))};
  const Sizes dims = dims_of(b, call, x);
  const bool keeps = call.is_true("keepdim");
  const FxTensor& tensor = b.tensor(x);
  if (version > TorchVersion{2, 11} && tensor.is_on_gpu && tensor.dtype != DType::boolean) {
    FxNode both = node_of(FxKind::arg_with_value, is_max ? "aten.max.dim" : "aten.min.dim", {x},
                          {keeps ? 1 : 0}, call.result(0));
    both.op = is_max ? "argmax_with_value" : "argmin_with_value";
    both.numbers.insert(both.numbers.end(), dims.begin(), dims.end());
    both.results.push_back(call.result(1));
    const auto [value, position] = b.add_two(std::move(both));
    return {value, position};
  }
  const FxId value = b.reduce(op, x, dims, keeps, tensor.dtype);
  return {value, arg_reduce(b, is_max ? "argmax" : "argmin", x, dims, keeps)};
}

FxIds both_extremes(FxBuilder& b, const CallArguments& call, TorchVersion) {
  const FxId x = call.tensor("self");
  const Sizes dims = call.has("dim") ? dims_of(b, call, x) : Sizes{};
  const bool keeps = call.is_true("keepdim");
  const FxId low = b.reduce("min", x, dims, keeps, b.dtype(x));
  return {low, b.reduce("max", x, dims, keeps, b.dtype(x))};
}

// not any(not x)
FxIds all_true(FxBuilder& b, const CallArguments& call, TorchVersion) {
  const FxId x = call.tensor("self");
  const FxId inverse = b.pointwise("logical_not", {x}, {}, DType::boolean);
  const FxId any = b.reduce("any", inverse, call.has("dim") ? dims_of(b, call, x) : Sizes{},
                            call.is_true("keepdim"), DType::boolean);
  return {b.pointwise("logical_not", {any}, {}, DType::boolean)};
}

FxIds vector_norm(FxBuilder& b, const CallArguments& call, TorchVersion) {
  const FxId x = call.tensor("self");
  const double order = call.real(call.packet() == "aten.norm" ? "p" : "ord", 2);
  const Sizes dims =
      call.has("dim") && !call.integers("dim").empty() ? dims_of(b, call, x) : Sizes{};
  const bool keeps = call.is_true("keepdim");
  const DType result = call.result().dtype;
  if (order == 0) {
    const FxId counted = b.pointwise("ne", {x}, {0}, DType::boolean);
    return {b.reduce("sum", counted, dims, keeps, result)};
  }
  if (std::isinf(order)) {
    const FxId size = b.pointwise("abs", {x});
    return {b.convert(b.reduce(order > 0 ? "max" : "min", size, dims, keeps, b.dtype(x)), result)};
  }
  FxId value = b.convert(x, computation_type(result));
  if (std::fmod(order, 2) != 0) value = b.pointwise("abs", {value});
  const FxId powers = b.pointwise("pow", {value}, {order});
  const FxId sum = b.reduce("sum", powers, dims, keeps, b.dtype(value));
  return {b.convert(b.pointwise("pow", {sum}, {1 / order}), result)};
}

FxIds log_of_sum(FxBuilder& b, const CallArguments& call, TorchVersion) {
  const FxId given = call.tensor("self");
  if (b.rank(given) == 0) return {given};
  const DType type = call.result().dtype;
  const FxId x = b.convert(given, type);
  const Sizes dims = dims_of(b, call, x);
  const FxId maximum = b.reduce("max", x, dims, true, type);
  const FxId is_infinite =
      b.pointwise("eq", {b.pointwise("abs", {maximum})}, {HUGE_VAL}, DType::boolean);
  const FxId zero = b.full({}, type, b.tensor(x).is_on_gpu, 0);
  const FxId limited = b.pointwise("where", {is_infinite, zero, maximum}, {}, type);
  const FxId sum = b.reduce("sum", b.pointwise("exp", {b.pointwise("sub", {x, limited})}), dims,
                            call.is_true("keepdim"), type);
  const FxId log = b.pointwise("log", {sum});
  return {b.pointwise("add", {log, with_sizes(b, limited, call.result())})};
}

// A sum of products of elements: dot, mv.
FxIds sum_of_products(FxBuilder& b, const CallArguments& call, TorchVersion) {
  const bool is_dot = call.packet() == "aten.dot";
  const FxId left = call.tensor("self"), right = call.tensor(is_dot ? "tensor" : "vec");
  const DType type = call.result().dtype, wide = computation_type(type);
  const FxId both = b.pointwise("mul", {b.convert(left, wide), b.convert(right, wide)});
  return {b.convert(b.reduce("sum", both, is_dot ? Sizes{} : Sizes{1}, false, wide), type)};
}

FxIds number_of_nonzero(FxBuilder& b, const CallArguments& call, TorchVersion) {
  const FxId x = call.tensor("self");
  const FxId counted = b.pointwise("ne", {x}, {0}, DType::boolean);
  return {b.reduce("sum", counted, call.has("dim") ? dims_of(b, call, x) : Sizes{}, false,
                   DType::int64)};
}

}  // namespace

std::span<const Decomposition> reduction_decompositions() {
  static constexpr std::array kAll = std::to_array<Decomposition>({
      {"aten.all", all_true},
      {"aten.aminmax", both_extremes},
      {"aten.argmax", position_of_extreme},
      {"aten.argmin", position_of_extreme},
      {"aten.count_nonzero", number_of_nonzero},
      {"aten.dot", sum_of_products},
      {"aten.linalg_vector_norm", vector_norm},
      {"aten.logsumexp", log_of_sum},
      {"aten.max", extreme},
      {"aten.min", extreme},
      {"aten.mv", sum_of_products},
      {"aten.norm", vector_norm},
      {"aten.std", variance},
      {"aten.std_mean", variance},
      {"aten.var", variance},
      {"aten.var_mean", variance},
  });
  return kAll;
}

}  // namespace jointer::kernels
