// Calls that move elements: padding, flipping, rolling, repeating, triangles, views with strides;
// and calls that create tensors.
// Source: torch/_refs/__init__.py (tril, triu, tril_indices, triu_indices, roll, flip, eye,
// linspace, diagonal, fill), torch/_refs/nn/functional/__init__.py (pixel_shuffle),
// torch/_decomp/decompositions.py (select_backward, split_with_sizes_copy),
// torch/_inductor/decomposition.py, torch/_inductor/lowering.py (copy).

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/kernels/decompositions.h"

namespace jointer::kernels {
namespace {

FxTensor dense_tensor(const FxBuilder& b, FxId like, Sizes sizes) {
  const FxTensor& tensor = b.tensor(like);
  Sizes stride = dense_strides(sizes);
  return {tensor.dtype, tensor.is_on_gpu, std::move(sizes), std::move(stride)};
}

FxId numbers_up_to(FxBuilder& b, std::int64_t count, bool is_on_gpu, DType type = DType::int64) {
  return b.add(
      node_of(FxKind::iota, "prims.iota.default", {}, {}, {type, is_on_gpu, {count}, {1}}));
}

FxIds triangle(FxBuilder& b, const CallArguments& call, TorchVersion) {
  const FxId x = call.tensor("self");
  const Sizes sizes = b.shape(x);
  if (sizes.size() < 2) return {};
  const bool is_on_gpu = b.tensor(x).is_on_gpu;
  const FxId columns = b.unsqueeze(numbers_up_to(b, sizes.back(), is_on_gpu), 0);
  const FxId rows = b.unsqueeze(numbers_up_to(b, sizes[sizes.size() - 2], is_on_gpu), 1);
  const bool is_lower = call.packet() == "aten.tril";
  const FxId mask = b.pointwise(is_lower ? "le" : "ge", {b.pointwise("sub", {columns, rows})},
                                {call.real("diagonal")}, DType::boolean);
  if (b.dtype(x) == DType::boolean)
    return {b.contiguous(b.pointwise("logical_and", {mask, x}, {}, DType::boolean))};
  const FxId zero = b.full({}, b.dtype(x), is_on_gpu, 0);
  return {b.contiguous(b.pointwise("where", {mask, x, zero}, {}, b.dtype(x)))};
}

// The part of a triangle in which the length of a row changes from row to row, and the part with
// whole rows: their numbers of elements, and the length of the first row.
struct TriangleParts {
  std::int64_t trapezoid = 0, rectangle = 0, first_row = 0;
};

TriangleParts lower_parts(std::int64_t rows, std::int64_t columns, std::int64_t offset) {
  if (rows == 0 || columns == 0) return {};
  const std::int64_t first =
      offset > 0 ? std::min(columns, 1 + offset) : (rows + offset > 0 ? 1 : 0);
  const std::int64_t last = std::clamp<std::int64_t>(rows + offset, 0, columns);
  const std::int64_t count = last - first + 1;
  const std::int64_t whole = std::clamp<std::int64_t>(rows + offset, 0, rows) - count;
  return {(first + last) * count / 2, std::max<std::int64_t>(0, whole * columns), first};
}

TriangleParts upper_parts(std::int64_t rows, std::int64_t columns, std::int64_t offset) {
  if (rows == 0 || columns == 0) return {};
  const TriangleParts lower = lower_parts(rows, columns, offset - 1);
  const std::int64_t rectangle = std::max<std::int64_t>(0, std::min(rows, -offset) * columns);
  return {rows * columns - lower.trapezoid - lower.rectangle - rectangle, rectangle,
          offset > 0 ? std::max<std::int64_t>(0, columns - offset) : columns};
}

// The row and the column of each element of the trapezoid, from the roots of a quadratic equation.
// Additions of 0 and products with 1 are in torch's decomposition, too, and count as operations.
FxIds trapezoid_indices(FxBuilder& b, const FxTensor& result, const TriangleParts& parts,
                        bool is_lower, double row_offset, double column_offset) {
  const std::string_view sum = is_lower ? "add" : "sub";
  const auto first = static_cast<double>(parts.first_row);
  const double half = is_lower ? first - 0.5 : -0.5 - first;
  const FxId iota = numbers_up_to(b, parts.trapezoid, result.is_on_gpu);
  const FxId numbers =
      b.convert(b.pointwise("add", {b.pointwise("mul", {iota}, {1})}, {0}), DType::float64);
  const FxId twice = b.pointwise("mul", {numbers}, {2});
  const FxId root = b.pointwise("sqrt", {b.pointwise(sum, {twice}, {half * half})});
  FxId row = b.pointwise("floor", {b.pointwise(sum, {root}, {-half})});
  FxId before = b.pointwise(sum, {row}, {2 * first - 1});
  before = b.pointwise("mul", {b.pointwise("mul", {before, row})}, {0.5});
  const FxId column = b.pointwise("floor", {b.pointwise("sub", {numbers, before})});
  if (is_lower)
    return {b.convert(b.pointwise("add", {row}, {row_offset}), result.dtype),
            b.convert(column, result.dtype)};
  row = b.convert(row, result.dtype);
  return {b.pointwise("add", {row}, {row_offset}),
          b.pointwise("add", {b.convert(column, result.dtype)}, {column_offset})};
}

// The same for the rectangle; in a lower triangle, it starts at the row `first_row`.
FxIds rectangle_indices(FxBuilder& b, const FxTensor& result, const TriangleParts& parts,
                        std::int64_t columns, std::optional<std::int64_t> first_row) {
  const FxId numbers = numbers_up_to(b, parts.rectangle, result.is_on_gpu, result.dtype);
  const auto width = static_cast<double>(columns);
  FxId row = b.pointwise("floordiv", {numbers}, {width});
  if (first_row) row = b.pointwise("add", {row}, {static_cast<double>(*first_row)});
  return {row, b.pointwise("remainder", {numbers}, {width})};
}

// Rows and columns of the elements in a triangle of a matrix: those of the trapezoid, which comes
// first in a lower triangle, and those of the rectangle.
FxIds triangle_indices(FxBuilder& b, const CallArguments& call, TorchVersion) {
  constexpr std::int64_t kMaxSize = 1 << 20;  // products of larger sizes could overflow
  const FxTensor result = call.result();
  const std::int64_t rows = call.integer("row"), columns = call.integer("col"),
                     offset = call.integer("offset");
  if (rows < 0 || columns < 0 || rows > kMaxSize || columns > kMaxSize || offset < -kMaxSize ||
      offset > kMaxSize || result.shape.size() != 2)
    return {};
  const bool is_lower = call.packet() == "aten.tril_indices";
  const TriangleParts parts =
      is_lower ? lower_parts(rows, columns, offset) : upper_parts(rows, columns, offset);
  const std::int64_t count = parts.trapezoid + parts.rectangle;
  if (count == 0 || result.shape[0] != 2 || result.shape[1] != count) return {};
  const std::int64_t hidden_rows = std::max<std::int64_t>(0, -offset);
  std::vector<FxIds> pieces;
  if (parts.trapezoid > 0) {
    const std::int64_t row_offset = is_lower ? hidden_rows : parts.rectangle / columns;
    pieces.push_back(trapezoid_indices(b, result, parts, is_lower, static_cast<double>(row_offset),
                                       static_cast<double>(std::max<std::int64_t>(0, offset))));
  }
  if (parts.rectangle > 0) {
    const std::optional<std::int64_t> first_row =
        is_lower ? std::optional(columns - parts.first_row + 1 + hidden_rows) : std::nullopt;
    pieces.push_back(rectangle_indices(b, result, parts, columns, first_row));
  }
  if (!is_lower) std::ranges::reverse(pieces);
  const auto join = [&](FxIds inputs, std::int64_t size) {
    FxTensor joined{result.dtype, result.is_on_gpu, {size}, {1}};
    return b.add(node_of(FxKind::cat, "aten.cat.default", std::move(inputs), {0}, joined));
  };
  FxIds lines;
  for (const std::size_t line : {0U, 1U}) {
    FxIds inputs;
    for (const FxIds& piece : pieces) inputs.push_back(piece[line]);
    lines.push_back(inputs.size() == 1 ? b.dense_copy(inputs.front())
                                       : join(std::move(inputs), count));
  }
  return {b.reshape(join(std::move(lines), 2 * count), {2, count})};
}

FxIds flip(FxBuilder& b, const CallArguments& call, TorchVersion) {
  const FxId x = call.tensor(call.packet() == "prims.rev" ? "a" : "self");
  Sizes dims = call.integers("dims");
  for (std::int64_t& dim : dims) dim = wrapped_dim(dim, b.rank(x));
  return {b.add(node_of(FxKind::flip, "prims.rev.default", {x}, std::move(dims), call.result()))};
}

FxIds roll(FxBuilder& b, const CallArguments& call, TorchVersion) {
  const FxId self = call.tensor("self");
  const Sizes shifts = call.integers("shifts");
  Sizes dims = call.integers("dims");
  FxId x = self;
  const bool is_flat = dims.empty();
  if (is_flat) {
    x = b.reshape(x, {product(b.shape(x))});
    dims = {0};
  }
  for (std::size_t i = 0; i < std::min(shifts.size(), dims.size()); ++i) {
    // The source position of each element along the dimension, wrapped around.
    const std::int64_t dim = wrapped_dim(dims[i], b.rank(x));
    const std::int64_t size = b.shape(x)[static_cast<std::size_t>(dim)];
    if (size == 0) return {self};
    const FxId numbers = numbers_up_to(b, size, b.tensor(x).is_on_gpu);
    const std::int64_t start = (size - shifts[i] % size) % size;
    const FxId moved =
        b.pointwise("remainder", {b.pointwise("add", {numbers}, {static_cast<double>(start)})},
                    {static_cast<double>(size)});
    FxIds inputs{x};
    inputs.resize(static_cast<std::size_t>(dim) + 1, -1);
    inputs.push_back(moved);
    x = b.add(node_of(FxKind::index, "aten.index.Tensor", std::move(inputs), {},
                      dense_tensor(b, x, Sizes(b.shape(x)))));
  }
  return {is_flat ? b.reshape(x, Sizes(b.shape(self))) : x};
}

FxIds pad(FxBuilder& b, const CallArguments& call, TorchVersion) {
  const FxId x = call.tensor("self");
  const Sizes pairs = call.integers("pad");
  const auto rank = static_cast<std::size_t>(b.rank(x));
  Sizes numbers(rank * 2, 0);
  for (std::size_t i = 0; i + 1 < pairs.size() && i / 2 < rank; i += 2) {
    const std::size_t dim = rank - 1 - i / 2;
    numbers[2 * dim] = pairs[i];
    numbers[2 * dim + 1] = pairs[i + 1];
  }
  FxNode made =
      node_of(FxKind::pad, "aten.constant_pad_nd.default", {x}, std::move(numbers), call.result());
  made.scalars = {call.real("value")};
  return {b.add(std::move(made))};
}

FxIds repeat(FxBuilder& b, const CallArguments& call, TorchVersion) {
  const FxId x = call.tensor("self");
  Sizes repeats = call.integers("repeats");
  if (static_cast<std::int64_t>(repeats.size()) < b.rank(x)) return {};
  return {b.add(
      node_of(FxKind::repeat, "aten.repeat.default", {x}, std::move(repeats), call.result()))};
}

FxIds unfold(FxBuilder& b, const CallArguments& call, TorchVersion) {
  const FxId x = call.tensor("self");
  const std::int64_t dim = wrapped_dim(call.integer("dimension"), b.rank(x)),
                     size = call.integer("size"), step = call.integer("step", 1);
  const std::int64_t all = b.shape(x)[static_cast<std::size_t>(dim)];
  if (all == 0 || step <= 0 || size < 0 || size > all) return {};
  FxNode view =
      node_of(FxKind::unfold, "aten.unfold.default", {x}, {dim, size, step}, call.result());
  view.is_view = true;
  return {b.add(std::move(view))};
}

FxIds as_strided(FxBuilder& b, const CallArguments& call, TorchVersion) {
  Sizes numbers{call.integer("storage_offset")};
  for (const std::string_view name : {"size", "stride"}) {
    const Sizes part = call.integers(name);
    numbers.insert(numbers.end(), part.begin(), part.end());
  }
  FxNode view = node_of(FxKind::as_strided, "aten.as_strided.default", {call.tensor("self")},
                        std::move(numbers), call.result());
  view.is_view = true;
  return {b.add(std::move(view))};
}

FxIds select_scatter(FxBuilder& b, const CallArguments& call, TorchVersion) {
  const bool is_gradient = call.packet() == "aten.select_backward";
  const FxTensor result = call.result();
  const auto rank = static_cast<std::int64_t>(result.shape.size());
  const std::int64_t dim = wrapped_dim(call.integer("dim"), rank);
  const std::int64_t index =
      wrapped_dim(call.integer("index"), result.shape[static_cast<std::size_t>(dim)]);
  const FxId self =
      is_gradient ? b.full(result.shape, result.dtype, result.is_on_gpu, 0) : call.tensor("self");
  const FxId source = call.tensor(is_gradient ? "grad_output" : "src");
  b.origin = NodeId();  // a pass of Inductor replaces the scatter with one without an origin
  return {b.add(node_of(FxKind::select_scatter, "aten.select_scatter.default", {self, source},
                        {dim, index}, result))};
}

FxIds slice_scatter(FxBuilder& b, const CallArguments& call, TorchVersion) {
  const FxTensor result = call.result();
  const std::int64_t dim =
      wrapped_dim(call.integer("dim"), static_cast<std::int64_t>(result.shape.size()));
  const std::int64_t size = result.shape[static_cast<std::size_t>(dim)];
  const auto [start, end] = slice_bounds(call.integer("start"), call.integer("end", size), size);
  b.origin = NodeId();  // as in select_scatter
  return {b.add(node_of(FxKind::slice_scatter, "aten.slice_scatter.default",
                        {call.tensor("self"), call.tensor("src")},
                        {dim, start, end, call.integer("step", 1)}, result))};
}

// Fills a new tensor that has the sizes, type and device of `self`, or `self` itself if the
// operator's name ends in "_".
FxIds fill_with(FxBuilder& b, const CallArguments& call, TorchVersion) {
  const FxId self = call.tensor("self");
  const FxTensor tensor = b.tensor(self);
  const bool is_zero = call.packet().starts_with("aten.zero");
  FxId value = is_zero ? -1 : call.tensor("value");
  if (value < 0) {
    value = b.full(tensor.shape, tensor.dtype, tensor.is_on_gpu, is_zero ? 0 : call.real("value"));
  } else {
    if (b.tensor(value).is_on_gpu != tensor.is_on_gpu) return {};
    FxNode wide = node_of(FxKind::expand, "aten.expand.default", {b.convert(value, tensor.dtype)},
                          Sizes(tensor.shape), dense_tensor(b, self, Sizes(tensor.shape)));
    wide.is_view = true;
    value = b.add(std::move(wide));
  }
  if (!call.packet().ends_with('_'))
    return {b.add(node_of(FxKind::clone, "aten.clone.default", {value}, {}, call.result()))};
  return {b.add(
      node_of(FxKind::copy_in_place, "aten.copy_.default", {self, value}, {}, call.result()))};
}

FxIds copied_like(FxBuilder& b, const CallArguments& call, TorchVersion) {
  const FxId self = call.tensor("self"), source = call.tensor("src");
  if (source < 0 || b.tensor(source).is_on_gpu != b.tensor(self).is_on_gpu) return {};
  FxId value = b.convert(source, b.dtype(self));
  if (b.shape(value) != b.shape(self)) {
    FxNode wide = node_of(FxKind::expand, "aten.expand.default", {value}, Sizes(b.shape(self)),
                          dense_tensor(b, self, Sizes(b.shape(self))));
    wide.is_view = true;
    value = b.add(std::move(wide));
  }
  return {b.add(node_of(FxKind::clone, "aten.clone.default", {value}, {}, call.result()))};
}

// Each element of the result is the element of the input at the scaled position, rounded down.
FxIds upsample(FxBuilder& b, const CallArguments& call, TorchVersion) {
  const FxId x = call.tensor("self") >= 0 ? call.tensor("self") : call.tensor("input");
  if (x < 0) return {};
  const FxTensor result = call.result();
  const std::size_t rank = result.shape.size();
  if (b.shape(x).size() != rank) return {};
  FxIds inputs{x, -1, -1};
  for (std::size_t i = 2; i < rank; ++i) {
    const double scale = static_cast<double>(b.shape(x)[i]) / static_cast<double>(result.shape[i]);
    const FxId numbers =
        b.convert(numbers_up_to(b, result.shape[i], result.is_on_gpu), DType::float32);
    FxId index = b.convert(b.pointwise("mul", {numbers}, {scale}), DType::int64);
    for (std::size_t j = i + 1; j < rank; ++j) index = b.unsqueeze(index, b.rank(index));
    inputs.push_back(index);
  }
  return {
      b.add(node_of(FxKind::index, "aten._unsafe_index.Tensor", std::move(inputs), {}, result))};
}

FxIds diagonal(FxBuilder& b, const CallArguments& call, TorchVersion) {
  const FxId x = call.tensor("self");
  FxNode view = node_of(FxKind::diagonal, "aten.diagonal.default", {x},
                        {call.integer("offset"), wrapped_dim(call.integer("dim1"), b.rank(x)),
                         wrapped_dim(call.integer("dim2", 1), b.rank(x))},
                        call.result());
  view.is_view = true;
  return {b.add(std::move(view))};
}

// Rearranges channels of an image into rows and columns, or the reverse: a view that is permuted
// and copied.
FxIds pixel_shuffle(FxBuilder& b, const CallArguments& call, TorchVersion) {
  const FxId x = call.tensor("self");
  const bool is_back = call.packet() == "aten.pixel_unshuffle";
  const std::int64_t factor =
      is_back ? call.integer("downscale_factor") : call.integer("upscale_factor");
  const Sizes sizes = b.shape(x);
  if (factor <= 0 || sizes.size() < 3) return {};
  const auto batch = static_cast<std::ptrdiff_t>(sizes.size()) - 3;
  Sizes split(sizes.begin(), sizes.begin() + batch), order(split.size());
  std::iota(order.begin(), order.end(), 0);
  const std::int64_t channels = sizes[sizes.size() - 3], rows = sizes[sizes.size() - 2],
                     columns = sizes.back();
  const Sizes parts = is_back ? Sizes{channels, rows / factor, factor, columns / factor, factor}
                              : Sizes{channels / (factor * factor), factor, factor, rows, columns};
  split.insert(split.end(), parts.begin(), parts.end());
  const Sizes places = is_back ? Sizes{0, 2, 4, 1, 3} : Sizes{0, 3, 1, 4, 2};
  for (const std::int64_t place : places) order.push_back(batch + place);
  const FxId moved = b.permute(b.reshape(x, std::move(split)), std::move(order));
  return {b.reshape(b.dense_copy(moved), call.result().shape)};
}

// The parts of a tensor, each copied into a new tensor.
FxIds split_copies(FxBuilder& b, const CallArguments& call, TorchVersion) {
  if (call.has("out")) return {};
  const FxId x = call.tensor("self");
  const std::int64_t dim = wrapped_dim(call.integer("dim"), b.rank(x));
  FxIds results;
  std::int64_t start = 0;
  for (const std::int64_t size : call.integers("split_sizes")) {
    const FxId part = b.slice(x, dim, start, start + size);
    results.push_back(b.dense_copy(part));
    start += size;
  }
  return results;
}

FxIds identity_matrix(FxBuilder& b, const CallArguments& call, TorchVersion) {
  const FxTensor result = call.result();
  if (result.shape.size() != 2) return {};
  const FxId columns = b.unsqueeze(numbers_up_to(b, result.shape[1], result.is_on_gpu), 0);
  const FxId rows = b.unsqueeze(numbers_up_to(b, result.shape[0], result.is_on_gpu), 1);
  const FxId mask = b.pointwise("eq", {columns, rows}, {}, DType::boolean);
  const FxId one = b.full({1}, result.dtype, result.is_on_gpu, 1),
             zero = b.full({}, result.dtype, result.is_on_gpu, 0);
  return {b.pointwise("where", {mask, one, zero}, {}, result.dtype)};
}

FxIds evenly_spaced(FxBuilder& b, const CallArguments& call, TorchVersion) {
  const FxTensor result = call.result();
  if (result.shape.empty()) return {};
  const auto count = result.shape[0];
  if (count < 2 || call.tensor("start") >= 0 || call.tensor("end") >= 0) return {};
  const FxId numbers = numbers_up_to(b, count, result.is_on_gpu);
  const double start = call.real("start"), end = call.real("end");
  const double step = (end - start) / static_cast<double>(count - 1);
  const FxId wide = b.convert(numbers, DType::float32);
  const FxId first = b.pointwise("add", {b.pointwise("mul", {wide}, {step})}, {start});
  const FxId rest = b.pointwise("sub", {wide}, {static_cast<double>(count - 1)});
  const FxId last = b.pointwise("sub", {b.pointwise("mul", {rest}, {step})}, {end});
  const FxId is_first =
      b.pointwise("lt", {numbers}, {static_cast<double>(count) / 2}, DType::boolean);
  return {
      b.convert(b.pointwise("where", {is_first, first, last}, {}, DType::float32), result.dtype)};
}

FxIds sorted_values(FxBuilder& b, const CallArguments& call, TorchVersion) {
  const FxId x = call.tensor("self");
  constexpr std::int64_t kLongest = 512;  // max_rblock
  if (b.rank(x) == 0 || !b.tensor(x).is_on_gpu) return {};
  const std::int64_t dim = wrapped_dim(call.integer("dim", -1), b.rank(x));
  if (b.shape(x)[static_cast<std::size_t>(dim)] > kLongest) return {};
  FxNode both = node_of(FxKind::sort, "aten.sort.stable", {x}, {dim}, call.result(0));
  both.results.push_back(call.result(1));
  const auto [values, positions] = b.add_two(std::move(both));
  return {values, positions};
}

}  // namespace

std::span<const Decomposition> shape_decompositions() {
  static constexpr std::array kAll = std::to_array<Decomposition>({
      {"aten.as_strided", as_strided},
      {"aten.constant_pad_nd", pad},
      {"aten.copy", copied_like},
      {"aten.diagonal", diagonal},
      {"aten.eye", identity_matrix},
      {"aten.fill", fill_with},
      {"aten.fill_", fill_with},
      {"aten.flip", flip},
      {"aten.linspace", evenly_spaced},
      {"aten.pixel_shuffle", pixel_shuffle},
      {"aten.pixel_unshuffle", pixel_shuffle},
      {"aten.repeat", repeat},
      {"aten.roll", roll},
      {"aten.select_backward", select_scatter},
      {"aten.select_scatter", select_scatter},
      {"aten.slice_scatter", slice_scatter},
      {"aten.sort", sorted_values},
      {"aten.split_with_sizes_copy", split_copies},
      {"aten.tril", triangle},
      {"aten.tril_indices", triangle_indices},
      {"aten.triu", triangle},
      {"aten.triu_indices", triangle_indices},
      {"aten.unfold", unfold},
      {"aten.upsample_nearest1d", upsample},
      {"aten.upsample_nearest2d", upsample},
      {"aten.upsample_nearest3d", upsample},
      {"aten.zero", fill_with},
      {"aten.zero_", fill_with},
      {"prims.rev", flip},
  });
  return kAll;
}

}  // namespace jointer::kernels
