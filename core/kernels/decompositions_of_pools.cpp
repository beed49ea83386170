// Pooling: maxima and averages of windows, and their gradients.
// Source: torch/_inductor/decomposition.py (_max_pool_with_indices), torch/_inductor/lowering.py
// (pooling_size, avg_pool2d, avg_pool2d_backward, upsample_nearest2d_backward,
// _adaptive_avg_pool2d, adaptive_max_pool2d), torch/_decomp/decompositions.py
// (max_pool2d_with_indices_backward, adaptive_max_pool2d).
// Deviation: adaptive pools follow torch 2.15 in every version.

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "core/kernels/decompositions.h"
#include "core/kernels/pool_windows.h"

namespace jointer::kernels {
namespace {

constexpr std::int64_t kLargestWindow = 25;
constexpr std::int64_t kMaxNumber = 1 << 20;  // products of larger numbers could overflow

Sizes for_each_dim(Sizes given, std::size_t dims, std::int64_t default_value) {
  if (given.empty()) return Sizes(dims, default_value);
  if (given.size() == 1) given.resize(dims, given.front());
  return given;
}

PoolWindows windows_of(const CallArguments& call, std::size_t dims) {
  PoolWindows made;
  made.kernel = for_each_dim(call.integers("kernel_size"), dims, 1);
  const Sizes stride = call.integers("stride");
  made.stride = stride.empty() ? made.kernel : for_each_dim(stride, dims, 1);
  made.padding = for_each_dim(call.integers("padding"), dims, 0);
  made.dilation = for_each_dim(call.integers("dilation"), dims, 1);
  return made;
}

// True if the windows are valid for pooling over `dims` dimensions, and the result has the input's
// `rank` dimensions: the pooled ones, the channels and, optionally, a batch.
bool is_valid(const PoolWindows& windows, std::size_t dims, std::int64_t rank,
              const FxTensor& result) {
  const auto are_within = [&](const Sizes& numbers, std::int64_t min) {
    return numbers.size() == dims && std::ranges::all_of(numbers, [&](std::int64_t each) {
             return each >= min && each <= kMaxNumber;
           });
  };
  return are_within(windows.kernel, 1) && are_within(windows.stride, 1) &&
         are_within(windows.padding, 0) && are_within(windows.dilation, 1) &&
         static_cast<std::int64_t>(result.shape.size()) == rank &&
         (rank == static_cast<std::int64_t>(dims) + 1 ||
          rank == static_cast<std::int64_t>(dims) + 2);
}

// The largest values in the windows and their offsets there.
std::array<FxId, 2> pooled(FxBuilder& b, std::string_view target, FxId x,
                           const PoolWindows& windows, FxTensor values, FxTensor offsets) {
  FxNode both = node_of(FxKind::max_pool, target, {x}, windows.numbers(), std::move(values));
  both.results.push_back(std::move(offsets));
  return b.add_two(std::move(both));
}

// Converts the offsets to positions in an input of these sizes.
FxId positions_of(FxBuilder& b, FxId offsets, const PoolWindows& windows, const Sizes& sizes,
                  FxTensor result) {
  const auto dims = static_cast<std::ptrdiff_t>(windows.kernel.size());
  Sizes numbers = windows.numbers();
  numbers.insert(numbers.end(), sizes.end() - dims, sizes.end());
  return b.add(node_of(FxKind::pool_positions,
                       "prims._low_memory_max_pool_offsets_to_indices.default", {offsets},
                       std::move(numbers), std::move(result)));
}

FxIds maxima(FxBuilder& b, FxId x, const PoolWindows& windows, const CallArguments& call) {
  const std::size_t dims = windows.kernel.size();
  if (call.result_count() != 2 || !is_valid(windows, dims, b.rank(x), call.result())) return {};
  const bool is_small = product(windows.kernel) <= kLargestWindow;
  FxTensor offsets = call.result(1);
  offsets.dtype = is_small ? DType::int8 : DType::int64;
  const std::string_view target = is_small    ? "prims._low_memory_max_pool_with_offsets.default"
                                  : dims == 3 ? "aten.max_pool3d_with_indices.default"
                                              : "aten.max_pool2d_with_indices.default";
  const auto [values, chosen] = pooled(b, target, x, windows, call.result(0), std::move(offsets));
  return {values, positions_of(b, chosen, windows, b.shape(x), call.result(1))};
}

FxIds max_pool(FxBuilder& b, const CallArguments& call, TorchVersion) {
  const std::size_t dims = call.packet() == "aten.max_pool3d_with_indices" ? 3 : 2;
  return maxima(b, call.tensor("self"), windows_of(call, dims), call);
}

// The two calls with which Inductor replaces a max_pool, in a graph that is already decomposed.
FxIds decomposed_max_pool(FxBuilder& b, const CallArguments& call, TorchVersion) {
  const FxId x = call.tensor("self");
  const std::size_t dims = call.integers("kernel_size").size();
  const PoolWindows windows = windows_of(call, dims);
  if (call.result_count() != 2 || !is_valid(windows, dims, b.rank(x), call.result())) return {};
  const auto [values, offsets] = pooled(b, "prims._low_memory_max_pool_with_offsets.default", x,
                                        windows, call.result(0), call.result(1));
  return {values, offsets};
}

FxIds decomposed_pool_positions(FxBuilder& b, const CallArguments& call, TorchVersion) {
  const FxId offsets = call.tensor("self");
  const std::size_t dims = call.integers("kernel_size").size();
  const PoolWindows windows = windows_of(call, dims);
  const Sizes sizes = call.integers("input_size");
  if (sizes.size() < dims || !is_valid(windows, dims, b.rank(offsets), call.result())) return {};
  return {positions_of(b, offsets, windows, sizes, call.result())};
}

// Adds each gradient to the position of its maximum.
FxIds max_pool_gradient(FxBuilder& b, const CallArguments& call, TorchVersion version) {
  if (version <= TorchVersion{2, 11}) return {};
  FxId gradient = call.tensor("grad_output"), positions = call.tensor("indices");
  const FxTensor result = call.result(), given = b.tensor(gradient);
  const std::size_t rank = result.shape.size();
  if ((rank != 3 && rank != 4) || given.shape.size() != rank || positions < 0) return {};
  const std::int64_t planes = (rank == 4 ? result.shape[0] : 1) * result.shape[rank - 3];
  const std::int64_t in = result.shape[rank - 2] * result.shape[rank - 1],
                     out = given.shape[rank - 2] * given.shape[rank - 1];
  const DType wide = computation_type(given.dtype);
  const FxId zeros = b.full({planes, in}, wide, given.is_on_gpu, 0);
  gradient = b.reshape(gradient, {planes, out});
  positions = b.reshape(positions, {planes, out});
  gradient = b.convert(gradient, wide);
  FxId sum = b.add(node_of(FxKind::scatter, "aten.scatter_add.default",
                           {zeros, positions, gradient}, {1, 1}, b.tensor(zeros)));
  sum = b.convert(b.reshape(sum, Sizes(result.shape)), given.dtype);
  if (is_contiguous(result.shape, result.stride)) return {sum};
  return {b.add(node_of(FxKind::clone, "aten.clone.default", {sum}, {}, result))};
}

FxIds average(FxBuilder& b, FxId x, const PoolWindows& windows, double divisor, bool counts_padding,
              FxTensor result) {
  Sizes numbers{counts_padding ? 1 : 0};
  const Sizes sizes = windows.numbers();
  numbers.insert(numbers.end(), sizes.begin(), sizes.end());
  FxNode made = node_of(FxKind::average_pool, "aten.avg_pool2d.default", {x}, std::move(numbers),
                        std::move(result));
  if (divisor != 0) made.scalars = {divisor};
  return {b.add(std::move(made))};
}

FxIds average_pool(FxBuilder& b, const CallArguments& call, TorchVersion) {
  const FxId x = call.tensor("self");
  const std::size_t dims = call.packet() == "aten.avg_pool3d" ? 3 : 2;
  const PoolWindows windows = windows_of(call, dims);
  if (!is_valid(windows, dims, b.rank(x), call.result())) return {};
  // For large windows that overlap or leave gaps, Inductor calls the eager kernel.
  if (product(windows.kernel) > kLargestWindow && windows.kernel != windows.stride) return {};
  return average(b, x, windows, call.real("divisor_override"),
                 call.is_true("count_include_pad", true), call.result());
}

FxIds average_pool_gradient(FxBuilder& b, const CallArguments& call, TorchVersion) {
  const FxId gradient = call.tensor("grad_output");
  const PoolWindows windows = windows_of(call, 2);
  if (!is_valid(windows, 2, b.rank(gradient), call.result())) return {};
  Sizes numbers{call.is_true("count_include_pad", true) ? 1 : 0};
  const Sizes sizes = windows.numbers();
  numbers.insert(numbers.end(), sizes.begin(), sizes.end());
  std::int64_t window = 1;
  for (std::size_t i = 0; i < 2; ++i) window *= windows_over(windows.kernel[i], windows.stride[i]);
  if (window > kLargestWindow) return {};
  FxNode made = node_of(FxKind::average_pool_gradient, "aten.avg_pool2d_backward.default",
                        {gradient}, std::move(numbers), call.result());
  if (call.has("divisor_override")) made.scalars = {call.real("divisor_override")};
  return {b.add(std::move(made))};
}

// The windows of a pool with a given output size. If the output sizes divide the input sizes, all
// windows have the same size; otherwise, `kernel` is their maximum size, and the steps between them
// differ.
struct AdaptiveWindows {
  PoolWindows windows{{}, {}, {0, 0}, {1, 1}};
  bool are_equal = true;
};

std::optional<AdaptiveWindows> adaptive_windows(const FxBuilder& b, const CallArguments& call) {
  const Sizes from = b.shape(call.tensor("self")), to = call.integers("output_size");
  if (to.size() != 2 || (from.size() != 3 && from.size() != 4) ||
      call.result().shape.size() != from.size())
    return std::nullopt;
  AdaptiveWindows made;
  for (std::size_t i = 0; i < 2; ++i) {
    const std::int64_t size = from[from.size() - 2 + i];
    if (to[i] <= 0 || size <= 0 || to[i] > kMaxNumber || size > kMaxNumber) return std::nullopt;
    made.are_equal = made.are_equal && size % to[i] == 0;
  }
  for (std::size_t i = 0; i < 2; ++i) {
    const std::int64_t size = from[from.size() - 2 + i];
    made.windows.kernel.push_back(made.are_equal ? size / to[i] : (size + 2 * to[i] - 2) / to[i]);
  }
  made.windows.stride = made.windows.kernel;
  return made;
}

// For large windows of different sizes, Inductor calls the eager kernel.
FxIds adaptive_pool(FxBuilder& b, FxId x, const PoolWindows& windows, const CallArguments& call) {
  if (product(windows.kernel) > kLargestWindow) return {};
  const bool is_max = call.result_count() == 2;
  FxNode made =
      node_of(FxKind::adaptive_pool,
              is_max ? "aten.adaptive_max_pool2d.default" : "aten._adaptive_avg_pool2d.default",
              {x}, Sizes(windows.kernel), call.result());
  made.is_tuple = is_max;
  if (is_max) made.results.push_back(call.result(1));
  const FxId pooled = b.add(std::move(made));
  if (!is_max) return {pooled};
  const FxId values = b.getitem(pooled, 0, call.result(0));
  return {values, b.getitem(pooled, 1, call.result(1))};
}

FxIds adaptive_average_pool(FxBuilder& b, const CallArguments& call, TorchVersion) {
  const FxId x = call.tensor("self");
  const auto adaptive = adaptive_windows(b, call);
  if (!adaptive) return {};
  const PoolWindows& windows = adaptive->windows;
  if (!adaptive->are_equal) return adaptive_pool(b, x, windows, call);
  if (product(windows.kernel) == 1)
    return {
        b.add(node_of(FxKind::clone, "aten._adaptive_avg_pool2d.default", {x}, {}, call.result()))};
  return average(b, x, windows, 0, true, call.result());
}

FxIds adaptive_max_pool(FxBuilder& b, const CallArguments& call, TorchVersion) {
  const FxId x = call.tensor("self");
  const auto adaptive = adaptive_windows(b, call);
  if (!adaptive || call.result_count() != 2) return {};
  const PoolWindows& windows = adaptive->windows;
  if (!adaptive->are_equal) return adaptive_pool(b, x, windows, call);
  const Sizes sizes = b.shape(x);
  const auto rank = static_cast<std::int64_t>(sizes.size());
  const Sizes to = call.integers("output_size");
  if (to[0] != 1 || to[1] != 1) return maxima(b, x, windows, call);
  // The maximum of each plane, and its position in the plane.
  const FxId values = b.reduce("max", x, {rank - 2, rank - 1}, true, b.dtype(x));
  Sizes planes(sizes.begin(), sizes.end() - 2);
  planes.push_back(sizes[sizes.size() - 2] * sizes.back());
  const FxId flat = b.reshape(x, std::move(planes));
  const FxId position = b.reduce("argmax", flat, {rank - 2}, false, DType::int64);
  return {values, b.unsqueeze(b.unsqueeze(position, -1), -1)};
}

// The gradient of nearest upsampling by whole factors sums the elements of each window.
FxIds upsample_gradient(FxBuilder& b, const CallArguments& call, TorchVersion) {
  const FxId gradient = call.tensor("grad_output");
  const Sizes from = b.shape(gradient), to = call.integers("input_size");
  if (to.size() != 4 || from.size() != 4 || call.result().shape.size() != 4) return {};
  PoolWindows windows{{}, {}, {0, 0}, {1, 1}};
  for (std::size_t i = 2; i < 4; ++i) {
    if (to[i] <= 0 || from[i] < to[i] || from[i] % to[i] != 0) return {};
    windows.kernel.push_back(from[i] / to[i]);
  }
  windows.stride = windows.kernel;
  return average(b, gradient, windows, 1, true, call.result());
}

}  // namespace

std::span<const Decomposition> pool_decompositions() {
  static constexpr std::array kAll = std::to_array<Decomposition>({
      {"aten._adaptive_avg_pool2d", adaptive_average_pool},
      {"aten.adaptive_max_pool2d", adaptive_max_pool},
      {"aten.avg_pool2d", average_pool},
      {"aten.avg_pool2d_backward", average_pool_gradient},
      {"aten.avg_pool3d", average_pool},
      {"aten.max_pool2d_with_indices", max_pool},
      {"aten.max_pool2d_with_indices_backward", max_pool_gradient},
      {"aten.max_pool3d_with_indices", max_pool},
      {"aten.upsample_nearest2d_backward", upsample_gradient},
      {"prims._low_memory_max_pool_offsets_to_indices", decomposed_pool_positions},
      {"prims._low_memory_max_pool_with_offsets", decomposed_max_pool},
  });
  return kAll;
}

}  // namespace jointer::kernels
