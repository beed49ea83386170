#include "core/kernels/fx_builder.h"

#include <algorithm>
#include <numeric>

namespace jointer::kernels {
namespace {

// The category for type promotion: 0 boolean, 1 integer, 2 floating, 3 complex.
int category(DType type) {
  if (type == DType::boolean) return 0;
  if (is_complex(type)) return 3;
  return is_floating(type) ? 2 : 1;
}

DType in_common(const FxTensor& left, const FxTensor& right) {
  const int a = category(left.dtype), b = category(right.dtype);
  // A tensor without dimensions counts only if it is of a higher category.
  if (left.shape.empty() != right.shape.empty()) {
    const FxTensor& whole = left.shape.empty() ? right : left;
    const FxTensor& scalar = left.shape.empty() ? left : right;
    if (category(whole.dtype) >= category(scalar.dtype)) return whole.dtype;
  }
  return a == b ? promoted(left.dtype, right.dtype) : a > b ? left.dtype : right.dtype;
}

Sizes strides_like(const Sizes& shape, const FxTensor& model) {
  if (model.shape != shape || is_contiguous(model.shape, model.stride)) return dense_strides(shape);
  return filled_strides(shape, fill_order(model.stride));
}

}  // namespace

DType promoted(DType left, DType right) {
  if (left == right) return left;
  const int a = category(left), b = category(right);
  if (a != b) return a > b ? left : right;
  // float16 and bfloat16 are promoted to float32.
  if (is_low_precision(left) && is_low_precision(right)) return DType::float32;
  return item_size(left) >= item_size(right) ? left : right;
}

DType computation_type(DType type) {
  return is_low_precision(type) ? DType::float32 : type;
}

std::pair<std::int64_t, std::int64_t> slice_bounds(std::int64_t start, std::int64_t end,
                                                   std::int64_t size) {
  const std::int64_t first = std::clamp<std::int64_t>(wrapped_dim(start, size), 0, size);
  return {first, std::clamp(wrapped_dim(end, size), first, size)};
}

NormDims::NormDims(const Sizes& shape, std::int64_t normalized) {
  const auto rank = static_cast<std::int64_t>(shape.size()), axis = rank - normalized;
  for (std::int64_t i = 0; i < rank; ++i) {
    (i >= axis ? inner : outer).push_back(i);
    if (i >= axis) count *= static_cast<double>(shape[static_cast<std::size_t>(i)]);
  }
}

FxNode node_of(FxKind kind, std::string_view target, FxIds inputs, Sizes numbers, FxTensor result) {
  FxNode made;
  made.kind = kind;
  made.target = target;
  made.inputs = std::move(inputs);
  made.numbers = std::move(numbers);
  made.results = {std::move(result)};
  return made;
}

FxId FxBuilder::add(FxNode made) {
  made.origin = origin;
  graph.nodes.push_back(std::move(made));
  return static_cast<FxId>(graph.nodes.size()) - 1;
}

FxTensor FxBuilder::like(const FxIds& inputs, DType dtype) const {
  FxTensor result{.dtype = dtype, .is_on_gpu = false, .shape = {}, .stride = {}};
  for (const FxId input : inputs) {
    const FxTensor& t = tensor(input);
    result.is_on_gpu = result.is_on_gpu || t.is_on_gpu;
    if (t.shape.size() > result.shape.size())
      result.shape.insert(result.shape.begin(), t.shape.size() - result.shape.size(), 1);
    for (std::size_t i = 0; i < t.shape.size(); ++i) {
      std::int64_t& size = result.shape[result.shape.size() - t.shape.size() + i];
      if (size == 1) size = t.shape[i];
    }
  }
  result.stride = dense_strides(result.shape);
  for (const FxId input : inputs)
    if (tensor(input).shape == result.shape) {
      result.stride = strides_like(result.shape, tensor(input));
      break;
    }
  return result;
}

FxId FxBuilder::pointwise(std::string_view op, FxIds inputs, Numbers scalars, DType dtype) {
  FxNode made;
  made.op = op;
  made.target = op;
  made.results = {like(inputs, dtype)};
  made.inputs = std::move(inputs);
  made.scalars = std::move(scalars);
  return add(std::move(made));
}

FxId FxBuilder::pointwise(std::string_view op, FxIds inputs, Numbers scalars) {
  FxTensor common = tensor(inputs.front());
  for (const FxId input : inputs) {
    common.dtype = in_common(common, tensor(input));
    if (tensor(input).shape.size() > common.shape.size()) common.shape = tensor(input).shape;
  }
  return pointwise(op, std::move(inputs), std::move(scalars), common.dtype);
}

FxId FxBuilder::convert(FxId input, DType dtype) {
  if (tensor(input).dtype == dtype) return input;
  FxNode made;
  made.kind = FxKind::convert;
  made.target = "prims.convert_element_type.default";
  made.inputs = {input};
  made.results = {like({input}, dtype)};
  return add(std::move(made));
}

FxId FxBuilder::to_computation_type(FxId input) {
  return input < 0 ? input : convert(input, computation_type(dtype(input)));
}

FxId FxBuilder::dense_copy(FxId input) {
  FxTensor copy = tensor(input);
  copy.stride = dense_strides(copy.shape);
  return add(node_of(FxKind::clone, "aten.clone.default", {input}, {}, std::move(copy)));
}

FxId FxBuilder::contiguous(FxId input) {
  const FxTensor& given = tensor(input);
  return is_contiguous(given.shape, given.stride) ? input : dense_copy(input);
}

FxId FxBuilder::slice(FxId input, std::int64_t dim, std::int64_t start, std::int64_t end) {
  FxTensor part = tensor(input);
  part.shape[static_cast<std::size_t>(dim)] = end - start;
  FxNode view =
      node_of(FxKind::slice, "aten.slice.Tensor", {input}, {dim, start, end, 1}, std::move(part));
  view.is_view = true;
  return add(std::move(view));
}

FxId FxBuilder::full(const Sizes& sizes, DType dtype, bool is_on_gpu, double value) {
  FxNode made;
  made.kind = FxKind::full;
  made.target = "aten.full.default";
  made.scalars = {value};
  made.results = {{dtype, is_on_gpu, sizes, dense_strides(sizes)}};
  return add(std::move(made));
}

FxId FxBuilder::reduce(std::string_view op, FxId input, Sizes dims, bool keeps, DType dtype,
                       bool is_mean) {
  FxNode made;
  made.kind = is_mean ? FxKind::mean : FxKind::reduce;
  made.op = op;
  made.target = is_mean       ? "aten.mean.dim"
                : op == "sum" ? "aten.sum.dim_IntList"
                              : "aten.amax.default";
  made.inputs = {input};
  const std::int64_t rank_of_input = rank(input);
  if (dims.empty()) {
    dims.resize(static_cast<std::size_t>(rank_of_input));
    std::iota(dims.begin(), dims.end(), 0);
  }
  for (std::int64_t& dim : dims) dim = wrapped_dim(dim, rank_of_input);
  FxTensor result{.dtype = dtype, .is_on_gpu = tensor(input).is_on_gpu, .shape = {}, .stride = {}};
  for (std::int64_t i = 0; i < rank_of_input; ++i) {
    const bool is_reduced = std::ranges::find(dims, i) != dims.end();
    if (is_reduced && !keeps) continue;
    result.shape.push_back(is_reduced ? 1 : shape(input)[static_cast<std::size_t>(i)]);
  }
  result.stride = dense_strides(result.shape);
  made.numbers = {keeps ? 1 : 0};
  made.numbers.insert(made.numbers.end(), dims.begin(), dims.end());
  made.results = {std::move(result)};
  return add(std::move(made));
}

std::array<FxId, 2> FxBuilder::moments(FxId input, const Sizes& dims) {
  FxTensor result = tensor(input);
  double count = 1;
  for (const std::int64_t dim : dims) {
    count *= static_cast<double>(result.shape[static_cast<std::size_t>(dim)]);
    result.shape[static_cast<std::size_t>(dim)] = 1;
  }
  result.stride = dense_strides(result.shape);
  FxNode both = node_of(FxKind::moments, "aten.var_mean.correction", {input}, dims, result);
  both.scalars = {count};
  both.results.push_back(std::move(result));
  return add_two(std::move(both));
}

FxId FxBuilder::reshape(FxId input, Sizes sizes, std::string_view target) {
  FxNode made;
  made.kind = FxKind::reshape;
  made.target = target;
  made.is_view = true;
  made.inputs = {input};
  made.results = {{dtype(input), tensor(input).is_on_gpu, sizes, dense_strides(sizes)}};
  made.numbers = std::move(sizes);
  return add(std::move(made));
}

FxId FxBuilder::unsqueeze(FxId input, std::int64_t dim) {
  Sizes sizes = shape(input), stride = tensor(input).stride;
  dim = wrapped_dim(dim, rank(input) + 1);
  const auto at = static_cast<std::size_t>(dim);
  stride.insert(stride.begin() + dim, at < sizes.size() ? sizes[at] * stride[at] : 1);
  sizes.insert(sizes.begin() + dim, 1);
  const FxId made = reshape(input, std::move(sizes), "aten.unsqueeze.default");
  graph.nodes.back().results.front().stride = std::move(stride);
  return made;
}

FxId FxBuilder::permute(FxId input, Sizes order) {
  FxNode made;
  made.kind = FxKind::permute;
  made.target = "aten.permute.default";
  made.is_view = true;
  made.inputs = {input};
  FxTensor result = tensor(input);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto from = static_cast<std::size_t>(order[i]);
    result.shape[i] = shape(input)[from];
    result.stride[i] = tensor(input).stride[from];
  }
  made.numbers = std::move(order);
  made.results = {std::move(result)};
  return add(std::move(made));
}

FxId FxBuilder::seeds(bool is_on_gpu) {
  FxId& made = seeds_[is_on_gpu ? 1 : 0];
  if (made < 0) {
    FxNode node_of_seeds;
    node_of_seeds.kind = FxKind::random_seeds;
    node_of_seeds.target = "inductor.seeds.default";
    node_of_seeds.numbers = {0};
    node_of_seeds.results = {{DType::int64, is_on_gpu, {0}, {1}}};
    made = add(std::move(node_of_seeds));
  }
  return made;
}

std::int64_t FxBuilder::next_seed(bool is_on_gpu) {
  FxNode& made = graph.nodes[static_cast<std::size_t>(seeds(is_on_gpu))];
  made.results.front().shape[0] = ++made.numbers[0];
  return made.numbers[0] - 1;
}

FxId FxBuilder::getitem(FxId tuple, std::int64_t which, FxTensor result) {
  FxNode made;
  made.kind = FxKind::getitem;
  made.target = "<built-in function getitem>";
  made.inputs = {tuple};
  made.numbers = {which};
  made.is_view = node(tuple).kind == FxKind::split;
  made.results = {std::move(result)};
  return add(std::move(made));
}

std::array<FxId, 2> FxBuilder::add_two(FxNode made) {
  const FxTensor first = made.results[0], second = made.results[1];
  made.is_tuple = true;
  const FxId tuple = add(std::move(made));
  const FxId selected = getitem(tuple, 0, first);
  return {selected, getitem(tuple, 1, second)};
}

}  // namespace jointer::kernels
