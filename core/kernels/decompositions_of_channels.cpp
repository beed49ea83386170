// Convolutions, the group norm, and their gradients.
// Source: torch/_refs/__init__.py (native_group_norm), torch/_decomp/decompositions.py
// (native_group_norm_backward), torch/_inductor/decomposition.py (convolution_backward).

#include <array>
#include <utility>

#include "core/kernels/decompositions.h"

namespace jointer::kernels {
namespace {

// [C] as [1, C, 1, ...]
FxId along_channels(FxBuilder& b, FxId weight, std::int64_t rank) {
  Sizes sizes(static_cast<std::size_t>(rank), 1);
  sizes[1] = product(b.shape(weight));
  return b.reshape(weight, std::move(sizes));
}

FxIds group_norm(FxBuilder& b, const CallArguments& call, TorchVersion) {
  const FxId given = call.tensor("input");
  const DType type = b.dtype(given);
  const std::int64_t batch = call.integer("N"), channels = call.integer("C"),
                     size = call.integer("HxW"), groups = call.integer("group");
  const Sizes shape = b.shape(given);
  if (groups <= 0 || shape.size() < 2) return {};
  const FxId x = b.reshape(b.to_computation_type(given), {batch, groups, channels / groups, size});
  const auto [variance, mean] = b.moments(x, {2, 3});
  const FxId factor = b.pointwise("rsqrt", {b.pointwise("add", {variance}, {call.real("eps")})});
  FxId value = b.reshape(b.pointwise("mul", {b.pointwise("sub", {x, mean}), factor}), shape);
  const auto rank = static_cast<std::int64_t>(shape.size());
  if (const FxId weight = call.tensor("weight"); weight >= 0)
    value = b.pointwise("mul", {value, along_channels(b, weight, rank)});
  if (const FxId bias = call.tensor("bias"); bias >= 0)
    value = b.pointwise("add", {value, along_channels(b, bias, rank)});
  return {b.convert(value, type), b.convert(b.reshape(mean, {batch, groups}), type),
          b.convert(b.reshape(factor, {batch, groups}), type)};
}

FxIds group_norm_gradient(FxBuilder& b, const CallArguments& call, TorchVersion) {
  const FxId given = call.tensor("input");
  const DType type = b.dtype(given);
  const std::int64_t batch = call.integer("N"), channels = call.integer("C"),
                     size = call.integer("HxW"), groups = call.integer("group");
  if (groups <= 0) return {};
  const std::int64_t each = channels / groups;
  const FxId dy = b.to_computation_type(call.tensor("grad_out")), x = b.to_computation_type(given),
             mean = b.to_computation_type(call.tensor("mean")),
             factor = b.to_computation_type(call.tensor("rstd")),
             weight = b.to_computation_type(call.tensor("weight"));
  const DType wide = b.dtype(x);
  const Sizes mask = call.integers("output_mask");
  const auto wants = [&](std::size_t i) { return i >= mask.size() || mask[i] != 0; };
  const auto mul = [&](FxId left, FxId right) { return b.pointwise("mul", {left, right}); };
  const Sizes flat{batch, channels, size}, grouped{batch, groups, each};
  const FxId ds = b.reduce("sum", b.reshape(mul(dy, x), flat), {2}, false, wide);
  const FxId db = b.reduce("sum", b.reshape(dy, flat), {2}, false, wide);
  FxIds results(3, -1);
  if (wants(0)) {
    const auto by_group = [&](FxId value) {
      const FxId scaled = weight < 0 ? value : mul(value, b.unsqueeze(weight, 0));
      return b.reduce("sum", b.reshape(scaled, grouped), {2}, false, wide);
    };
    const FxId ds_sum = by_group(ds), db_sum = by_group(db);
    const FxId gamma = weight < 0 ? b.full({1, groups, each}, wide, b.tensor(x).is_on_gpu, 1)
                                  : b.reshape(weight, {1, groups, each});
    const FxId c1 = mul(b.unsqueeze(factor, 2), gamma);
    const FxId difference = b.pointwise("fma", {db_sum, mean, b.pointwise("neg", {ds_sum})});
    const double share = 1.0 / static_cast<double>(size * each);
    const FxId c2 =
        b.pointwise("mul", {mul(mul(mul(difference, factor), factor), factor)}, {share});
    const FxId c3 = b.pointwise("sub", {mul(b.pointwise("neg", {c2}), mean),
                                        b.pointwise("mul", {mul(db_sum, factor)}, {share})});
    const auto lifted = [&](FxId value) { return b.unsqueeze(b.unsqueeze(value, 2), 3); };
    const Sizes whole{batch, groups, each, size};
    const FxId first = mul(b.reshape(dy, whole), b.unsqueeze(c1, 3));
    const FxId second = mul(b.reshape(x, whole), lifted(c2));
    const FxId sum = b.pointwise("add", {b.pointwise("add", {first, second}), lifted(c3)});
    results[0] = b.reshape(sum, Sizes(b.shape(given)));
  }
  if (wants(1) && weight >= 0) {
    const FxId part = b.pointwise(
        "sub", {b.reshape(ds, grouped), mul(b.reshape(db, grouped), b.unsqueeze(mean, 2))});
    results[1] =
        b.reshape(b.reduce("sum", mul(part, b.unsqueeze(factor, 2)), {0}, false, wide), {channels});
  }
  if (wants(2)) results[2] = b.reduce("sum", db, {0}, false, wide);
  for (FxId& result : results)
    if (result >= 0) result = b.convert(result, type);
  return results;
}

FxIds convolution(FxBuilder& b, const CallArguments& call, TorchVersion) {
  const FxId x = call.tensor("input"), weight = call.tensor("weight"), bias = call.tensor("bias");
  if (call.result().shape.size() < 2 || weight < 0 || b.rank(weight) < 3) return {};
  FxNode called;
  called.kind = FxKind::convolution;
  called.target = "aten.convolution.default";
  called.constraint = Constraint::order;
  called.inputs = {x, weight};
  if (bias >= 0) called.inputs.push_back(bias);
  called.numbers = {call.integer("groups", 1)};
  called.results = {call.result()};
  return {b.add(std::move(called))};
}

FxIds convolution_gradient(FxBuilder& b, const CallArguments& call, TorchVersion) {
  const FxId gradient = call.tensor("grad_output"), x = call.tensor("input"),
             weight = call.tensor("weight");
  const Sizes mask = call.integers("output_mask");
  if (x < 0 || weight < 0 || b.rank(weight) < 3 || mask.size() != 3 || !b.tensor(x).is_on_gpu)
    return {};
  const std::size_t called_for = (mask[0] != 0 ? 1U : 0U) + (mask[1] != 0 ? 1U : 0U);
  if (called_for > call.result_count()) return {};
  FxIds results(3, -1);
  if (mask[2] != 0) {
    Sizes dims{0};
    for (std::int64_t i = 2; i < b.rank(gradient); ++i) dims.push_back(i);
    results[2] = b.reduce("sum", gradient, dims, false, b.dtype(gradient));
  }
  FxNode called;
  called.kind = FxKind::convolution_gradient;
  called.target = "aten.convolution_backward.default";
  called.constraint = Constraint::order;
  called.is_tuple = true;
  called.inputs = {gradient, x, weight};
  called.numbers = {call.integer("groups", 1), mask[0], mask[1]};
  if (called_for == 0) return results;
  for (std::size_t i = 0; i < called_for; ++i) called.results.push_back(call.result(i));
  const auto tensors = called.results;
  const FxId tuple = b.add(std::move(called));
  for (std::size_t i = 0, next = 0; i < 2; ++i)
    if (mask[i] != 0) {
      results[i] = b.getitem(tuple, static_cast<std::int64_t>(next), tensors[next]);
      ++next;
    }
  return results;
}

}  // namespace

std::span<const Decomposition> channel_decompositions() {
  static constexpr std::array kAll = std::to_array<Decomposition>({
      {"aten.convolution", convolution},
      {"aten.convolution_backward", convolution_gradient},
      {"aten.native_group_norm", group_norm},
      {"aten.native_group_norm_backward", group_norm_gradient},
  });
  return kAll;
}

}  // namespace jointer::kernels
