// Pooling: reductions over the windows of a tensor, unrolled where a window is small.
// Source: torch/_inductor/lowering.py (_max_pool_with_offsets, _pool_offsets_to_indices,
// _avg_poolnd, avg_pool2d_backward, _adaptive_avg_pool2d, adaptive_max_pool2d,
// constant_boundary_condition).
// Deviation: where padding changes the divisor of an average, simpler operations stand for those
// that compute this divisor, but not in the gradient.

#include <array>
#include <functional>
#include <limits>
#include <utility>

#include "core/kernels/lowering_state.h"

namespace jointer::kernels {
namespace {

constexpr std::int64_t kUnrolledWindow = 25;

// The number of windows along a dimension without `ceil_mode`.
std::int64_t whole_windows(std::int64_t size, const PoolWindows& of, std::size_t dim) {
  return (size + 2 * of.padding[dim] - of.dilation[dim] * (of.kernel[dim] - 1) + of.stride[dim] -
          1) /
         of.stride[dim];
}

}  // namespace

Loops Lowering::window_loops(const Box& from, const PoolWindows& windows, const Sizes& ranges) {
  const Sizes sizes = shape(from);
  const std::size_t dims = windows.kernel.size(), first = ranges.size() - dims;
  Loops made = make_loops(from, dtype(from), ranges);
  made.kind = Loops::Kind::reduction;
  made.reduced = windows.kernel;
  Positions where = variables(ranges);
  const Positions inner = variables(made.reduced, static_cast<int>(ranges.size()));
  bool may_lie_outside = false;
  for (std::size_t i = 0; i < dims; ++i) {
    ExpressionIndex& at = where[first + i];
    at = pool.add(pool.multiply(at, windows.stride[i]),
                  pool.multiply(inner[i], windows.dilation[i]));
    at = pool.add(at, pool.constant(-windows.padding[i]));
    may_lie_outside = may_lie_outside || windows.padding[i] != 0 || windows.dilation[i] > 1 ||
                      ranges[first + i] > whole_windows(sizes[first + i], windows, i);
  }
  std::int16_t mask = -1;
  for (std::size_t i = 0; i < dims && may_lie_outside; ++i) {
    const std::int16_t at = index_value(made, where[first + i]);
    const std::int16_t low =
        append(made, "ge", std::array{at, index_value(made, IndexPool::kZero)});
    const std::int16_t high =
        append(made, "lt", std::array{at, index_value(made, pool.constant(sizes[first + i]))});
    const std::int16_t both = append(made, "and_", std::array{low, high});
    mask = mask < 0 ? both : append(made, "and_", std::array{mask, both});
  }
  const std::int16_t value = read(made, from, std::move(where));
  if (may_lie_outside) append(made, "masked", std::array{mask, value});
  return made;
}

Boxes Lowering::lower_max_pool(const FxNode& of) {
  const Box input = argument(of.inputs[0]);
  realize_hint(input);
  const PoolWindows windows = PoolWindows::from(of.numbers, 0, of.numbers.size() / 4);
  const bool is_small = of.results[1].dtype == DType::int8;
  const std::int64_t unrolled = is_small ? kUnrolledWindow : kUnrolled;
  Loops maximum = window_loops(input, windows, of.result().shape);
  maximum.op = "max";
  Loops position = maximum;
  position.op = "argmax";
  position.dtype = DType::int64;
  if (product(windows.kernel) >= unrolled) {
    const Positions inner = variables(position.reduced, static_cast<int>(position.ranges.size()));
    const Sizes stride = dense_strides(position.reduced);
    ExpressionIndex place = IndexPool::kZero;
    for (std::size_t i = 0; i < inner.size(); ++i)
      place = pool.add(place, pool.multiply(inner[i], stride[i]));
    index_value(position, place);
  }
  const Box values = make_reduction(std::move(maximum), &input, unrolled);
  Box positions = make_reduction(std::move(position), &input, unrolled);
  if (is_small) positions = to_dtype(positions, DType::int8);
  return {values, positions};
}

Box Lowering::lower_pool_positions(const FxNode& of) {
  const Box chosen = argument(of.inputs[0]);
  const std::size_t dims = of.numbers.size() / 5;
  const PoolWindows windows = PoolWindows::from(of.numbers, 0, dims);
  const Sizes sizes(of.numbers.end() - static_cast<std::ptrdiff_t>(dims), of.numbers.end());
  Loops made = make_loops(chosen, DType::int64, shape(chosen));
  const Positions where = variables(made.ranges);
  const std::int16_t value = read(made, chosen, where);
  const ExpressionIndex at = indirect(made, value, product(windows.kernel));
  ExpressionIndex place = IndexPool::kZero;
  std::int64_t below = product(windows.kernel);
  for (std::size_t i = 0; i < dims; ++i) {
    below /= windows.kernel[i];
    const ExpressionIndex inner =
        i == 0 ? pool.divide(at, below) : pool.modular(at, below, windows.kernel[i]);
    ExpressionIndex position = pool.multiply(where[where.size() - dims + i], windows.stride[i]);
    position = pool.add(position, pool.multiply(inner, windows.dilation[i]));
    position = pool.add(position, pool.constant(-windows.padding[i]));
    place = pool.add(pool.multiply(place, sizes[i]), position);
  }
  index_value(made, place);
  return box_of(std::move(made));
}

Box Lowering::lower_average_pool(const FxNode& of) {
  const Box input = argument(of.inputs[0]);
  realize_hint(input);
  const std::size_t dims = (of.numbers.size() - 1) / 4;
  const PoolWindows windows = PoolWindows::from(of.numbers, 1, dims);
  const DType type = dtype(input), wide = is_low_precision(type) ? DType::float32 : type;
  const Sizes ranges = of.result().shape;
  Loops total = window_loops(input, windows, ranges);
  const bool is_masked = total.body.back().op == "masked";
  total.op = "sum";
  total.dtype = wide;
  const std::int64_t count = product(windows.kernel);
  const Box sum = make_reduction(std::move(total), &input,
                                 count <= kUnrolledWindow ? kUnrolledWindow : kUnrolled);
  Loops scaled = make_loops(sum, wide, shape(sum));
  const Positions where = variables(scaled.ranges);
  const std::int16_t value = read(scaled, sum, where);
  if (!is_masked || !of.scalars.empty()) {
    const double divisor = of.scalars.empty() ? static_cast<double>(count) : of.scalars[0];
    append(scaled, "mul", std::array{value, constant(scaled, 1 / divisor)});
  } else {
    // A stand-in for the divisor, the number of elements in the window that count.
    std::int16_t number = -1;
    for (std::size_t i = 0; i < dims; ++i) {
      const std::int16_t factor = index_value(scaled, where[where.size() - dims + i]);
      number = number < 0 ? factor : append(scaled, "mul", std::array{number, factor});
    }
    append(scaled, "truediv", std::array{value, number});
  }
  return to_dtype(box_of(std::move(scaled)), type);
}

Box Lowering::lower_average_pool_gradient(const FxNode& of) {
  const Box gradient = argument(of.inputs[0]);
  realize_hint(gradient);
  const PoolWindows windows = PoolWindows::from(of.numbers, 1, 2);
  const Sizes sizes = of.result().shape, pooled = shape(gradient);
  const std::size_t rank = sizes.size();
  bool is_padded = false;
  for (std::size_t i = 0; i < 2; ++i)
    is_padded = is_padded || windows.padding[i] != 0 ||
                pooled[rank - 2 + i] > whole_windows(sizes[rank - 2 + i], windows, i);
  Loops made = make_loops(gradient, of.result().dtype, sizes);
  const Positions where = variables(sizes);
  // The first window that contains the element, and the one after the last.
  std::array<std::int16_t, 2> start{}, end{};
  for (std::size_t i = 0; i < 2; ++i) {
    const ExpressionIndex at = pool.add(where[rank - 2 + i], pool.constant(windows.padding[i]));
    const ExpressionIndex before =
        pool.add(at, pool.constant(windows.stride[i] - windows.kernel[i]));
    start[i] = index_value(made, pool.divide(before, windows.stride[i]));
    const ExpressionIndex after = pool.add(pool.divide(at, windows.stride[i]), pool.constant(1));
    end[i] = index_value(made, after);
  }
  for (std::size_t i = 0; i < 2; ++i)
    start[i] = append(made, "maximum", std::array{start[i], constant(made, 0, DType::int32)});
  for (std::size_t i = 0; i < 2; ++i) {
    const std::int16_t all = index_value(made, pool.constant(pooled[rank - 2 + i]));
    end[i] = append(made, "minimum", std::array{end[i], all});
  }
  const auto counted = [&](std::size_t i, std::int16_t window) {
    const auto dim = rank - 2 + i;
    const auto number = [&](std::int64_t each) {
      return constant(made, static_cast<double>(each), DType::int32);
    };
    const std::int16_t padding = number(windows.padding[i]);
    const std::int16_t stepped = append(made, "mul", std::array{window, number(windows.stride[i])});
    std::int16_t low = append(made, "sub", std::array{stepped, padding});
    const std::int16_t size = index_value(made, pool.constant(sizes[dim]));
    const std::int16_t limit = append(made, "add", std::array{size, padding});
    const std::int16_t ends = append(made, "add", std::array{low, number(windows.kernel[i])});
    std::int16_t high = append(made, "minimum", std::array{ends, limit});
    low = append(made, "maximum", std::array{low, number(0)});
    high = append(made, "minimum", std::array{high, size});
    return append(made, "sub", std::array{high, low});
  };
  std::int16_t sum = -1;
  for (std::int64_t row = 0; row < windows_over(windows.kernel[0], windows.stride[0]); ++row)
    for (std::int64_t column = 0; column < windows_over(windows.kernel[1], windows.stride[1]);
         ++column) {
      std::array<std::int16_t, 2> window{};
      for (std::size_t i = 0; i < 2; ++i) {
        const auto offset = static_cast<double>(i == 0 ? row : column);
        window[i] = append(made, "add", std::array{start[i], constant(made, offset, DType::int32)});
      }
      std::int16_t scale = -1;
      if (!of.scalars.empty())
        scale = constant(made, of.scalars[0]);
      else if (of.numbers[0] != 0 || !is_padded)
        scale = constant(made, static_cast<double>(product(windows.kernel)));
      else
        scale = append(made, "mul", std::array{counted(0, window[0]), counted(1, window[1])});
      Positions position = where;
      for (std::size_t i = 0; i < 2; ++i) {
        const std::int16_t last =
            append(made, "sub", std::array{end[i], constant(made, 1, DType::int32)});
        const std::int16_t at = append(made, "minimum", std::array{window[i], last});
        position[rank - 2 + i] = indirect(made, at, pooled[rank - 2 + i]);
      }
      const std::int16_t part =
          append(made, "truediv", std::array{read(made, gradient, std::move(position)), scale});
      const std::int16_t mask =
          append(made, "and_",
                 std::array{append(made, "lt", std::array{window[0], end[0]}),
                            append(made, "lt", std::array{window[1], end[1]})});
      sum = sum < 0 ? append(made, "where", std::array{mask, part, constant(made, 0)})
                    : append(made, "where",
                             std::array{mask, append(made, "add", std::array{sum, part}), sum});
    }
  return box_of(std::move(made));
}

void Lowering::for_each_in_window(
    Loops& made, const Box& from, const Sizes& windows,
    const std::function<void(std::int16_t mask, const Positions& at)>& use) {
  const Sizes sizes = shape(from);
  const Positions where = variables(made.ranges);
  const std::size_t first = where.size() - 2;
  // The first element of the window, and the one after the last.
  std::array<ExpressionIndex, 2> start{}, end{};
  for (std::size_t i = 0; i < 2; ++i) {
    const std::int64_t in = sizes[first + i], out = made.ranges[first + i];
    const ExpressionIndex scaled = pool.multiply(where[first + i], in);
    start[i] = pool.divide(scaled, out);
    end[i] = pool.divide(pool.add(scaled, pool.constant(in + out - 1)), out);
  }
  for (std::int64_t row = 0; row < windows[0]; ++row)
    for (std::int64_t column = 0; column < windows[1]; ++column) {
      Positions at = where;
      std::array<std::int16_t, 2> is_inside{};
      for (std::size_t i = 0; i < 2; ++i) {
        at[first + i] = pool.add(start[i], pool.constant(i == 0 ? row : column));
        const std::int16_t position = index_value(made, at[first + i]);
        is_inside[i] = append(made, "lt", std::array{position, index_value(made, end[i])});
      }
      use(append(made, "and_", is_inside), at);
    }
}

Boxes Lowering::lower_adaptive_pool(const FxNode& of) {
  const Box input = argument(of.inputs[0]);
  realize_hint(input);
  const std::int64_t width = shape(input).back();
  const double outside = of.is_tuple ? -std::numeric_limits<double>::infinity() : 0;
  const auto masked = [&](Loops& made, std::int16_t mask, const Positions& at) {
    return append(made, "masked", std::array{mask, read(made, input, at)}, outside);
  };
  Loops values = make_loops(input, of.result().dtype, of.result().shape);
  if (!of.is_tuple) {
    std::int16_t sum = -1, count = -1;
    const auto added = [&](std::int16_t total, std::int16_t value) {
      return total < 0 ? value : append(values, "add", std::array{value, total});
    };
    for_each_in_window(values, input, of.numbers, [&](std::int16_t mask, const Positions& at) {
      sum = added(sum, masked(values, mask, at));
    });
    for_each_in_window(values, input, of.numbers, [&](std::int16_t mask, const Positions&) {
      count = added(count, append(values, "masked", std::array{mask, constant(values, 1)}));
    });
    append(values, "truediv", std::array{sum, count});
    return {box_of(std::move(values))};
  }
  std::int16_t maximum = -1;
  for_each_in_window(values, input, of.numbers, [&](std::int16_t mask, const Positions& at) {
    const std::int16_t value = masked(values, mask, at);
    maximum = maximum < 0 ? value : append(values, "maximum", std::array{value, maximum});
  });
  Loops positions = make_loops(input, DType::int64, of.result().shape);
  std::int16_t largest = -1, position = -1;
  for_each_in_window(positions, input, of.numbers, [&](std::int16_t mask, const Positions& at) {
    const std::int16_t value = masked(positions, mask, at);
    const ExpressionIndex place = pool.add(pool.multiply(at[at.size() - 2], width), at.back());
    const std::int16_t here = index_value(positions, place);
    if (largest < 0) {
      position = here;
      largest = value;
      return;
    }
    // The position comes last, since the last operation is the result.
    const std::int16_t is_larger = append(positions, "gt", std::array{value, largest});
    largest = append(positions, "maximum", std::array{value, largest});
    position = append(positions, "where", std::array{is_larger, here, position});
  });
  return {box_of(std::move(values)), box_of(std::move(positions))};
}

}  // namespace jointer::kernels
