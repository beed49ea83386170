// Calls with positions that are known only at run time, random numbers, and checks on the device.
// Source: torch/_decomp/decompositions.py (_index_add, _index_copy), torch/_refs/__init__.py
// (_index_fill), torch/_inductor/lowering.py (scatter_, scatter_reduce_, index_put_),
// torch/_inductor/utils.py (use_scatter_fallback), torch/_decomp/decompositions_for_rng.py,
// torch/_inductor/fx_passes/replace_random.py.

#include <array>
#include <utility>

#include "core/kernels/decompositions.h"

namespace jointer::kernels {
namespace {

// The inputs of an index_put along one dimension.
FxIds put_along(FxId self, FxId values, std::int64_t dim, FxId index) {
  FxIds inputs{self, values};
  inputs.resize(static_cast<std::size_t>(dim) + 2, -1);
  inputs.push_back(index);
  return inputs;
}

FxIds index_along(FxBuilder& b, const CallArguments& call, TorchVersion) {
  const FxId self = call.tensor("self");
  FxId index = call.tensor("index");
  const std::string_view packet = call.packet();
  const bool adds = packet.starts_with("aten.index_add");
  const bool is_in_place = packet.ends_with('_');
  if (b.rank(self) == 0) return {};
  const std::int64_t dim = wrapped_dim(call.integer("dim"), b.rank(self));
  const FxTensor tensor = b.tensor(self);
  // Inductor lowers a bfloat16 index_add only for GPUs that add this type atomically, such as H100.
  if (adds && tensor.dtype == DType::bfloat16 && !tensor.is_on_gpu) return {};
  if (b.rank(index) == 0) index = b.unsqueeze(index, 0);
  FxId values = call.tensor("source");
  if (packet.starts_with("aten.index_fill")) {
    Sizes sizes = tensor.shape;
    sizes[static_cast<std::size_t>(dim)] = product(b.shape(index));
    values = call.tensor("value");
    if (values < 0) values = b.full({}, tensor.dtype, tensor.is_on_gpu, call.real("value"));
    FxNode wide;
    wide.kind = FxKind::expand;
    wide.target = "aten.expand.default";
    wide.is_view = true;
    wide.inputs = {values};
    wide.numbers = sizes;
    wide.results = {{tensor.dtype, tensor.is_on_gpu, sizes, dense_strides(sizes)}};
    values = b.add(std::move(wide));
  }
  if (values < 0) return {};
  if (adds && call.real("alpha", 1) != 1)
    values = b.pointwise("mul", {values}, {call.real("alpha", 1)});
  FxNode put;
  put.kind = is_in_place ? FxKind::index_put_in_place : FxKind::index_put;
  put.target = is_in_place ? "aten.index_put_.default" : "aten.index_put.default";
  put.inputs = put_along(self, values, dim, index);
  put.numbers = {adds ? 1 : 0};
  put.results = {call.result()};
  return {b.add(std::move(put))};
}

// Adds values where the mask is set, as the gradient of an embedding does. It stays one call when
// Inductor decomposes a graph.
FxIds masked_put(FxBuilder& b, const CallArguments& call, TorchVersion) {
  FxNode put =
      node_of(FxKind::masked_index_add, "aten._unsafe_masked_index_put_accumulate.default",
              {call.tensor("self"), call.tensor("values"), call.tensor("mask")}, {}, call.result());
  if (put.inputs[1] < 0 || put.inputs[2] < 0) return {};
  for (const FxId index : call.tensors("indices")) put.inputs.push_back(index);
  return {b.add(std::move(put))};
}

// scatter_, scatter_add_, scatter_reduce and scatter_reduce_. Decomposer::scatter_rule handles
// scatter and scatter_add.
FxIds scatter_along(FxBuilder& b, const CallArguments& call, TorchVersion) {
  const FxId self = call.tensor("self"), index = call.tensor("index");
  const std::string_view packet = call.packet(), reduction = call.text("reduce");
  const bool adds =
      packet.starts_with("aten.scatter_add") || reduction == "sum" || reduction == "add";
  if (!call.is_true("include_self", true)) return {};
  const FxTensor tensor = b.tensor(self);
  FxId source = call.tensor("src");
  const bool is_of_number = source < 0 && call.has("value");
  if (is_of_number)
    source = b.full(b.shape(index), tensor.dtype, tensor.is_on_gpu, call.real("value"));
  if (source < 0 || b.rank(self) == 0) return {};
  const std::int64_t dim = wrapped_dim(call.integer("dim"), b.rank(self));
  FxNode made;
  made.kind = packet.ends_with('_') ? FxKind::scatter_in_place : FxKind::scatter;
  made.target = is_of_number                   ? "aten.scatter_.value"
                : made.kind == FxKind::scatter ? "aten.scatter.src"
                                               : "aten.scatter_.src";
  // For reductions other than sums, Inductor calls the eager kernel (ScatterFallback).
  if (!adds) made.op = reduction;
  made.inputs = {self, index, source};
  made.numbers = {dim, adds ? 1 : 0};
  made.results = {call.result()};
  return {b.add(std::move(made))};
}

// The positions at which values belong in a sorted tensor.
FxId position_in(FxBuilder& b, FxId sorted, FxId values, DType type) {
  FxNode made;
  made.kind = FxKind::bucketize;
  made.target = "aten.searchsorted.Tensor";
  made.inputs = {values, sorted};
  FxTensor result = b.tensor(values);
  result.dtype = type;
  result.stride = dense_strides(result.shape);
  made.results = {std::move(result)};
  return b.add(std::move(made));
}

FxIds searched(FxBuilder& b, const CallArguments& call, TorchVersion) {
  const bool is_search = call.packet() == "aten.searchsorted";
  const FxId sorted = call.tensor(is_search ? "sorted_sequence" : "boundaries"),
             values = call.tensor("self");
  if (sorted < 0 || values < 0 || call.has("sorter") || !b.tensor(values).is_on_gpu) return {};
  return {position_in(b, sorted, values, call.result().dtype)};
}

// Repeats each position as many times as `repeats` says: looks up the positions of the result in
// the cumulative sums of `repeats`. Source: repeat_interleave_Tensor in
// torch/_inductor/decomposition.py.
FxIds repeated_positions(FxBuilder& b, const CallArguments& call, TorchVersion version) {
  const FxId repeats = call.tensor("repeats");
  if (version <= TorchVersion{2, 11} || repeats < 0 || b.rank(repeats) != 1 ||
      !call.has("output_size") || !b.tensor(repeats).is_on_gpu)
    return {};
  FxNode sums;
  sums.kind = FxKind::scan;
  sums.target = "aten.cumsum.default";
  sums.inputs = {repeats};
  sums.numbers = {0};
  sums.results = {b.tensor(repeats)};
  sums.results.front().dtype = DType::int64;
  const FxId ends = b.add(std::move(sums));
  FxNode all;
  all.kind = FxKind::iota;
  all.target = "prims.iota.default";
  all.results = {{DType::int64, true, call.result().shape, {1}}};
  const FxId places = b.add(std::move(all));
  const FxId found = position_in(b, ends, places, b.dtype(repeats));
  return {b.pointwise("minimum", {found}, {static_cast<double>(b.shape(repeats)[0] - 1)})};
}

FxId seed_at(FxBuilder& b, FxId seeds, std::int64_t index) {
  const bool is_on_gpu = b.tensor(seeds).is_on_gpu;
  return b.add(node_of(FxKind::random_seed, "prims.inductor_lookup_seed.default", {seeds}, {index},
                       {DType::int64, is_on_gpu, {}, {}}));
}

// Random numbers that a seed determines; `op` as in FxNode.
FxId drawn_from(FxBuilder& b, FxId seed, std::string_view op, FxTensor like) {
  like.dtype = op == "randint64" ? DType::int64 : DType::float32;
  like.stride = dense_strides(like.shape);
  FxNode made =
      node_of(FxKind::random, "prims.inductor_random.default", {seed}, {}, std::move(like));
  made.op = op;
  return b.add(std::move(made));
}

FxId random_numbers(FxBuilder& b, std::string_view op, const FxTensor& like, DType type) {
  const FxId seeds = b.seeds(like.is_on_gpu);
  const FxId seed = seed_at(b, seeds, b.next_seed(like.is_on_gpu));
  return b.convert(drawn_from(b, seed, op, like), type);
}

// The calls with which Inductor replaces random operators, as in the halves that it compiles
// (`replace_random_passes`).
FxIds inductor_seeds(FxBuilder& b, const CallArguments& call, TorchVersion) {
  return {b.add(node_of(FxKind::random_seeds, "prims.inductor_seeds.default", {},
                        {call.integer("count")}, call.result()))};
}

FxIds inductor_seed(FxBuilder& b, const CallArguments& call, TorchVersion) {
  return {seed_at(b, call.tensor("seeds"), call.integer("index"))};
}

FxIds inductor_random(FxBuilder& b, const CallArguments& call, TorchVersion) {
  const FxId seed = call.tensor("seed");
  if (seed < 0) return {};
  const bool is_integer = call.packet() == "prims.inductor_randint";
  const std::string_view mode = is_integer                    ? "randint64"
                                : call.text("mode") == "rand" ? "rand"
                                                              : "randn";
  return {drawn_from(b, seed, mode, call.result())};
}

FxIds random_tensor(FxBuilder& b, const CallArguments& call, TorchVersion) {
  if (call.has("generator")) return {};
  const FxTensor result = call.result();
  const bool is_normal = call.packet().starts_with("aten.randn");
  const bool is_integer = call.packet().starts_with("aten.randint");
  return {random_numbers(b,
                         is_integer  ? "randint64"
                         : is_normal ? "randn"
                                     : "rand",
                         result, result.dtype)};
}

FxIds dropout(FxBuilder& b, const CallArguments& call, TorchVersion) {
  const FxId x = call.tensor("input");
  const FxTensor tensor = b.tensor(x);
  const double p = call.real("p");
  if (!call.is_true("train", true) || p == 0)
    return {x, b.full(tensor.shape, DType::boolean, tensor.is_on_gpu, 1)};
  if (p == 1) return {};
  const FxId mask =
      b.pointwise("gt", {random_numbers(b, "rand", tensor, tensor.dtype)}, {p}, DType::boolean);
  const FxId kept = b.pointwise("mul", {mask, x}, {}, tensor.dtype);
  return {b.pointwise("mul", {kept}, {1 / (1 - p)}), mask};
}

FxIds coin_flips(FxBuilder& b, const CallArguments& call, TorchVersion) {
  const FxId x = call.tensor("self");
  if (!b.tensor(x).is_on_gpu || call.has("generator") || call.tensor("p") >= 0) return {};
  const FxId drawn = random_numbers(b, "rand", b.tensor(x), DType::float32);
  return {b.convert(b.pointwise("lt", {drawn}, {call.real("p", 0.5)}, DType::boolean),
                    call.result().dtype)};
}

// An assertion on the device, which is a separate kernel. Source: `_assert_async` in
// torch/_inductor/lowering.py.
FxIds assert_true(FxBuilder& b, const CallArguments& call, TorchVersion) {
  const FxId x = call.tensor("self");
  FxNode made;
  made.op = "device_assert_async";
  made.target = "aten._assert_async.msg";
  made.inputs = {b.convert(x, DType::boolean)};
  made.results = {b.tensor(made.inputs.front())};
  made.has_side_effects = true;
  return {b.add(std::move(made))};
}

}  // namespace

std::span<const Decomposition> index_decompositions() {
  static constexpr std::array kAll = std::to_array<Decomposition>({
      {"aten._assert_async", assert_true},
      {"aten._unsafe_masked_index_put_accumulate", masked_put},
      {"aten.bernoulli", coin_flips},
      {"aten.bucketize", searched},
      {"aten.index_add", index_along},
      {"aten.index_add_", index_along},
      {"aten.index_copy", index_along},
      {"aten.index_copy_", index_along},
      {"aten.index_fill", index_along},
      {"aten.index_fill_", index_along},
      {"aten.native_dropout", dropout},
      {"aten.rand", random_tensor},
      {"aten.rand_like", random_tensor},
      {"aten.randint", random_tensor},
      {"aten.randn", random_tensor},
      {"aten.randn_like", random_tensor},
      {"aten.repeat_interleave", repeated_positions},
      {"aten.scatter_", scatter_along},
      {"aten.scatter_add_", scatter_along},
      {"aten.scatter_reduce", scatter_along},
      {"aten.scatter_reduce_", scatter_along},
      {"aten.searchsorted", searched},
      {"prims.inductor_lookup_seed", inductor_seed},
      {"prims.inductor_randint", inductor_random},
      {"prims.inductor_random", inductor_random},
      {"prims.inductor_seeds", inductor_seeds},
  });
  return kAll;
}

}  // namespace jointer::kernels
