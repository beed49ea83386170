// Reductions, which are split into two layers where they have too few results to occupy the GPU.
// Source: torch/_inductor/ir.py (Reduction.create, num_splits, create_multilayer,
// OnlineSoftmaxReduction), torch/_inductor/choices.py (reduction_split_factor). The numbers are
// those of an H100.

#include <algorithm>
#include <array>
#include <cstdlib>

#include "core/kernels/lowering_state.h"

namespace jointer::kernels {
namespace {

constexpr std::int64_t kProcessors = 132, kThreadsPerProcessor = 2048, kWarp = 32;
constexpr std::int64_t kMinPerThread = 32, kMaxPerThread = 512;
constexpr std::int64_t kMinPerDevice = kMinPerThread * kProcessors * kThreadsPerProcessor;
constexpr std::int64_t kMaxPerDevice = kMaxPerThread * kProcessors * kThreadsPerProcessor;
constexpr std::int64_t kThreads = kWarp * 8;
constexpr std::int64_t kUnsplitInner = 8192;
constexpr std::int64_t kValuesPerThread = 4, kResultsPerBlock = 128;

std::int64_t up(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

// The divisor of `number` that is nearest to `goal`; the smaller one if two are equally near.
std::int64_t nearest_divisor(std::int64_t number, std::int64_t goal) {
  std::int64_t best = 1;
  const auto consider = [&](std::int64_t divisor) {
    const std::int64_t distance = std::abs(divisor - goal), before = std::abs(best - goal);
    if (distance < before || (distance == before && divisor < best)) best = divisor;
  };
  for (std::int64_t i = 1; i * i <= number; ++i)
    if (number % i == 0) {
      consider(i);
      consider(number / i);
    }
  return best;
}

std::int64_t inner_splits(std::int64_t reduced, std::int64_t results) {
  if (results >= 2 * kProcessors || reduced <= kUnsplitInner) return 1;
  std::int64_t size = kMaxPerThread;
  if (reduced * results <= kMinPerDevice) {
    size = kMinPerThread;
  } else if (reduced * results < kMaxPerDevice) {
    const std::int64_t blocks = up(kProcessors * kThreadsPerProcessor / (2 * kThreads), results);
    const std::int64_t goal = up(reduced, kThreads * blocks);
    const std::int64_t closest = nearest_divisor(reduced, goal);
    size = std::abs(closest - goal) < 30 ? std::max(closest, kMinPerThread) : goal;
  } else if (const std::int64_t closest = nearest_divisor(reduced, kMaxPerThread);
             std::abs(closest - kMaxPerThread) < 50) {
    size = closest;
  }
  return up(reduced, size * kThreads);
}

std::int64_t outer_splits(std::int64_t reduced, std::int64_t results) {
  const std::int64_t blocks = up(results, kResultsPerBlock);
  std::int64_t size = kMaxPerThread;
  if (reduced * results < kMinPerDevice) {
    size = kMinPerThread;
  } else if (reduced * results < kMaxPerDevice) {
    const std::int64_t target = up(kProcessors * kThreadsPerProcessor / kThreads, blocks);
    const std::int64_t goal = up(reduced, kValuesPerThread * target);
    const std::int64_t closest = nearest_divisor(reduced, goal);
    size = std::abs(goal - closest) < 20 ? std::max(closest, kMinPerThread) : goal;
  } else if (const std::int64_t closest = nearest_divisor(reduced, kMaxPerThread);
             std::abs(closest - kMaxPerThread) < 50) {
    size = closest;
  }
  return up(reduced, kValuesPerThread * size);
}

}  // namespace

std::int64_t Lowering::split_count(const Loops& made) {
  const std::int64_t results = product(made.ranges), reduced = product(made.reduced);
  if (!made.is_on_gpu || made.op.starts_with("arg")) return 1;
  if (results == 1) return inner_splits(reduced, results);
  if (reduced <= kMinPerThread || results >= kProcessors * 2 * kWarp) return 1;
  // Counts the loads that use all loops: those along the reduced loops, and those across them. If
  // there are none, torch 2.12 and later count those that use a reduced loop.
  std::uint64_t all = 0, inner = 0;
  for (std::size_t i = 0; i < made.ranges.size(); ++i)
    if (made.ranges[i] != 1) all |= std::uint64_t{1} << i;
  for (std::size_t i = 0; i < made.reduced.size(); ++i)
    if (made.reduced[i] != 1) inner |= std::uint64_t{1} << (made.ranges.size() + i);
  all |= inner;
  Positions whole, repeated;
  const auto collect = [&] {
    bool has_changed = false;
    whole.clear();
    repeated.clear();
    for (const BodyOp& op : made.body) {
      if (op.buffer < 0) continue;
      const std::uint64_t used = pool.loops_in(position_of(op));
      const bool is_whole = (used & all) == all;
      const bool is_repeated = is_new_torch() && !is_whole && (used & inner) != 0;
      if (is_whole) whole.push_back(position_of(op));
      if (is_repeated) repeated.push_back(position_of(op));
      if ((is_whole || is_repeated) && !buffer(op.buffer).is_input) {
        const Sizes before = buffer(op.buffer).stride;
        decide_layout(op.buffer);
        has_changed = has_changed || before != buffer(op.buffer).stride;
      }
    }
    return has_changed;
  };
  if (collect()) collect();
  const Positions& judged = whole.empty() ? repeated : whole;
  if (judged.empty()) return 1;
  std::int64_t outer_count = 0, inner_count = 0;
  for (const ExpressionIndex position : judged) {
    bool is_outer = true;
    for (std::size_t i = 0; i < made.reduced.size(); ++i) {
      const std::int64_t stride =
          made.reduced[i] == 1 ? 0
                               : pool.stride(position, static_cast<int>(made.ranges.size() + i));
      is_outer = is_outer && (stride == 0 || stride > 1);
    }
    ++(is_outer ? outer_count : inner_count);
  }
  return inner_count > outer_count ? inner_splits(reduced, results)
                                   : outer_splits(reduced, results);
}

Loops Lowering::split_layer(const Loops& made, std::int64_t split, int dense) {
  const Sizes ranges = made.ranges, reduced = made.reduced;
  const std::int64_t count = product(reduced), block = up(count, split);
  Loops first;
  first.kind = made.kind;
  first.op = made.op;
  first.is_on_gpu = made.is_on_gpu;
  first.dtype = is_low_precision(made.dtype) ? DType::float32 : made.dtype;
  first.ranges = ranges;
  first.ranges.push_back(split);
  first.reduced = {block};
  const auto piece_loop = static_cast<int>(ranges.size()), element_loop = piece_loop + 1;
  const ExpressionIndex piece = pool.loop(piece_loop, split),
                        element = pool.loop(element_loop, block);
  const ExpressionIndex whole = pool.add(pool.multiply(piece, block), element);
  Positions where = variables(ranges);
  Sizes walked = reduced;
  if (dense >= 0) std::rotate(walked.begin() + dense, walked.begin() + dense + 1, walked.end());
  Positions inner = reshape_positions(walked, {count}, {whole});
  if (dense >= 0) std::rotate(inner.begin() + dense, inner.end() - 1, inner.end());
  where.insert(where.end(), inner.begin(), inner.end());
  const bool is_masked = count % split != 0;
  std::int16_t mask = -1;
  if (is_masked) {
    const std::int16_t at = index_value(first, whole),
                       end = index_value(first, pool.constant(count));
    mask = append(first, "lt", std::array{at, end});
  }
  const std::int16_t value = copy_body(first, made, where);
  if (is_masked) append(first, "masked", std::array{mask, value});
  first.split = block;
  loops.push_back(made);
  first.unsplit = static_cast<std::int32_t>(loops.size()) - 1;
  return first;
}

Loops Lowering::second_layer(const Loops& made, Sizes reduced) {
  Loops second;
  second.kind = made.kind;
  second.op = made.op;
  second.is_on_gpu = made.is_on_gpu;
  second.dtype = made.dtype;
  second.ranges = made.ranges;
  second.reduced = std::move(reduced);
  return second;
}

Box Lowering::make_split_reduction(Loops made, std::int64_t split, int dense) {
  const Sizes ranges = made.ranges;
  Loops first = split_layer(made, split, dense);
  const Box partial = make_reduction(std::move(first));
  realize(partial);
  Loops second = second_layer(made, {split});
  Positions at = variables(ranges);
  at.push_back(pool.loop(static_cast<int>(ranges.size()), split));
  read(second, partial, std::move(at));
  return box_of(std::move(second));
}

Boxes Lowering::make_welford(const Loops& made) {
  const std::int64_t count = product(made.reduced);
  if (count == 1 && made.op == "welford_reduce") {
    Loops copy;
    copy.dtype = made.dtype;
    copy.is_on_gpu = made.is_on_gpu;
    copy.ranges = made.ranges;
    Positions where = variables(made.ranges);
    where.resize(made.ranges.size() + made.reduced.size(), IndexPool::kZero);
    copy_body(copy, made, where);
    return {box_of(std::move(copy)), full(0, made.dtype, made.is_on_gpu, made.ranges),
            full(1, made.dtype, made.is_on_gpu, made.ranges)};
  }
  const std::int64_t split = split_count(made);
  if (split <= 1) {
    Boxes results;
    for (int i = 0; i < 3; ++i) {
      results.push_back(box_of(made));
      realize(results.back());
    }
    return results;
  }
  Loops first = split_layer(made, split);
  first.dtype = made.dtype;
  first.split = 0;
  first.unsplit = -1;
  // Masked elements must not count, so each element has a weight.
  if (count % split != 0) first.op = "welford_combine";
  const Boxes parts = make_welford(first);
  Loops second = second_layer(made, {split});
  second.op = "welford_combine";
  for (const Box& part : parts) {
    realize(part);
    Positions where = variables(made.ranges);
    where.push_back(pool.loop(static_cast<int>(made.ranges.size()), split));
    read(second, part, std::move(where));
  }
  return make_welford(second);
}

int Lowering::dense_dimension(const Loops& made, const Box* input) {
  if (input == nullptr || product(shape(*input)) != product(made.reduced)) return -1;
  realize(*input);
  if (!has_layout(*input)) return -1;
  if (input->view < 0) decide_layout(buffer_of(*input));
  const Sizes stride = strides(*input);
  for (std::size_t i = 0; i + 1 < stride.size(); ++i)
    if (stride[i] == 1 && made.reduced.size() == stride.size()) return static_cast<int>(i);
  return -1;
}

// The sizes of the loops of the reductions from whose results `input` is computed, then the number
// of reduced loops, which are the last ones. Empty unless `made` reduces `input`, which is not
// computed yet, to one element, and these reductions all have the same loops, with as many
// iterations as `input` has elements. Source: extract_input_node_reduction_ranges.
Sizes Lowering::loops_of_read_reduction(const Loops& made, const Box* input) {
  if (product(made.ranges) != 1 || input == nullptr || input->view >= 0 || is_realized(*input))
    return {};
  const auto read_by = [](const Loops& of) {
    BufferIds result;
    for (const BodyOp& op : of.body)
      if (op.buffer >= 0 && std::ranges::find(result, op.buffer) == result.end())
        result.push_back(op.buffer);
    return result;
  };
  Sizes outer, reduced;
  bool is_found = false;
  BufferIds reads = read_by(loops_of(storage(*input).loops));
  for (int depth = 0; depth < 64 && !is_found && !reads.empty(); ++depth) {
    BufferIds next;
    for (const BufferId id : reads) {
      if (buffer(id).loops < 0) continue;
      const Loops& of = loops_of(buffer(id).loops);
      if (!of.is_reduction()) {
        for (const BufferId each : read_by(of))
          if (std::ranges::find(next, each) == next.end()) next.push_back(each);
        continue;
      }
      if (is_found && (outer != buffer(id).shape || reduced != of.reduced)) return {};
      is_found = true;
      outer = buffer(id).shape;
      reduced = of.reduced;
    }
    if (next == reads) break;
    reads = std::move(next);
  }
  if (!is_found || product(outer) * product(reduced) != product(made.reduced)) return {};
  outer.insert(outer.end(), reduced.begin(), reduced.end());
  outer.push_back(static_cast<std::int64_t>(reduced.size()));
  return outer;
}

// The second layer of a reduction whose first layer has the loops `along`, the result of
// loops_of_read_reduction.
Loops Lowering::along_loops(const Loops& made, const Sizes& along) {
  const auto count = static_cast<std::ptrdiff_t>(along.back());
  const Sizes sizes(along.begin(), along.end() - 1);
  Loops first;
  first.kind = made.kind;
  first.op = made.op;
  first.is_on_gpu = made.is_on_gpu;
  first.dtype = is_low_precision(made.dtype) ? DType::float32 : made.dtype;
  first.ranges = made.ranges;
  first.ranges.insert(first.ranges.end(), sizes.begin(), sizes.end() - count);
  first.reduced.assign(sizes.end() - count, sizes.end());
  const auto start = static_cast<int>(made.ranges.size());
  Positions where = variables(made.ranges);
  const Positions inner = reshape_positions(made.reduced, sizes, variables(sizes, start));
  where.insert(where.end(), inner.begin(), inner.end());
  copy_body(first, made, where);
  const Box partial = make_reduction(std::move(first));
  realize(partial);
  Loops second = second_layer(made, Sizes(sizes.begin(), sizes.end() - count));
  Positions at = variables(made.ranges);
  const Positions rest = variables(second.reduced, start);
  at.insert(at.end(), rest.begin(), rest.end());
  read(second, partial, std::move(at));
  return second;
}

// Adds the operations of a mask that is true where the first of two values, each with its position,
// is the extreme. Returns the mask. Source: get_reduction_combine_fn.
std::int16_t Lowering::is_better(Loops& into, std::string_view op, DType compared,
                                 std::array<std::int16_t, 2> a, std::array<std::int16_t, 2> b) {
  std::int16_t mask = append(into, op.starts_with("argmin") ? "lt" : "gt", std::array{a[0], b[0]});
  std::int16_t equal = append(into, "eq", std::array{a[0], b[0]});
  if (is_floating(compared)) {
    const std::int16_t a_is_nan = append(into, "ne", std::array{a[0], a[0]}),
                       b_is_nan = append(into, "ne", std::array{b[0], b[0]});
    mask = append(into, "logical_or",
                  std::array{mask, append(into, "gt", std::array{a_is_nan, b_is_nan})});
    equal = append(into, "logical_or",
                   std::array{equal, append(into, "logical_and", std::array{a_is_nan, b_is_nan})});
  }
  const std::int16_t is_before = append(into, "lt", std::array{a[1], b[1]});
  return append(into, "logical_or",
                std::array{mask, append(into, "logical_and", std::array{equal, is_before})});
}

Box Lowering::make_reduction(Loops made, const Box* input, std::int64_t unrolled_below) {
  const std::int64_t count = product(made.reduced);
  if (count == 0) return full(made.op == "prod" ? 1 : 0, made.dtype, made.is_on_gpu, made.ranges);
  // On the CPU, a reduction to one element keeps its loop.
  if (count == 1 || (count < unrolled_below && (made.is_on_gpu || product(made.ranges) != 1))) {
    // There are so few elements that each gets its own operations.
    Loops unrolled;
    unrolled.dtype = made.dtype;
    unrolled.is_on_gpu = made.is_on_gpu;
    unrolled.ranges = made.ranges;
    const bool is_position = made.op.starts_with("arg");
    std::int16_t value = -1, place = -1;
    for (std::int64_t i = 0; i < count; ++i) {
      Positions where = variables(made.ranges);
      std::int64_t rest = i;
      Positions inner(made.reduced.size(), IndexPool::kZero);
      for (std::size_t d = made.reduced.size(); d-- > 0;) {
        inner[d] = pool.constant(rest % made.reduced[d]);
        rest /= made.reduced[d];
      }
      where.insert(where.end(), inner.begin(), inner.end());
      const std::int16_t element = copy_body(unrolled, made, where);
      const std::int16_t index = is_position ? index_value(unrolled, pool.constant(i)) : -1;
      if (i == 0) {
        value = element;
        place = index;
      } else if (is_position) {
        const std::int16_t mask =
            is_better(unrolled, made.op, input == nullptr ? made.dtype : dtype(*input),
                      {value, place}, {element, index});
        value = append(unrolled, "where", std::array{mask, value, element});
        place = append(unrolled, "where", std::array{mask, place, index});
      } else {
        value = append(unrolled, made.op == "sum" ? "add" : made.op, std::array{value, element});
      }
    }
    if (is_position && !made.op.ends_with("_value")) value = place;
    // The value must be the last operation, even if an earlier one is equal to it.
    if (static_cast<std::size_t>(value) + 1 != unrolled.body.size())
      append(unrolled, "identity", std::array{value});
    return box_of(std::move(unrolled));
  }
  const std::int64_t split = split_count(made);
  if (split > 1) {
    if (const Sizes along = loops_of_read_reduction(made, input); !along.empty()) {
      const Box result = box_of(along_loops(made, along));
      realize(result);
      return result;
    }
    const int dense = is_new_torch() ? dense_dimension(made, input) : -1;
    const Box result = make_split_reduction(std::move(made), split, dense);
    realize(result);
    return result;
  }
  const Box result = box_of(std::move(made));
  realize(result);
  return result;
}

Box Lowering::reduce(std::string_view op, const Box& input, const Sizes& dims, bool keeps,
                     DType type) {
  const Sizes sizes = shape(input);
  Loops made = make_loops(input, type, {});
  made.kind = Loops::Kind::reduction;
  made.op = op;
  SmallVector<bool, 8> is_reduced(sizes.size(), false);
  for (const std::int64_t dim : dims) is_reduced[static_cast<std::size_t>(dim)] = true;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (is_reduced[i]) made.reduced.push_back(sizes[i]);
    if (!is_reduced[i] || keeps) made.ranges.push_back(is_reduced[i] ? 1 : sizes[i]);
  }
  const Positions outer = variables(made.ranges),
                  inner = variables(made.reduced, static_cast<int>(outer.size()));
  Positions where;
  for (std::size_t i = 0, kept = 0, taken = 0; i < sizes.size(); ++i) {
    where.push_back(is_reduced[i] ? inner[taken++] : outer[kept]);
    if (!is_reduced[i] || keeps) ++kept;
  }
  read(made, input, std::move(where));
  return make_reduction(std::move(made), &input);
}

// Source: use_two_step_variance.
bool Lowering::has_two_steps(const Box& input, DType given, const Sizes& dims) {
  constexpr std::int64_t kOnCpu = 1024, kMinLow = 1024, kMaxLow = 32768;
  const Sizes sizes = shape(input);
  Loops sum = make_loops(input, dtype(input), sizes);
  for (const std::int64_t dim : dims) {
    sum.reduced.push_back(sizes[static_cast<std::size_t>(dim)]);
    sum.ranges[static_cast<std::size_t>(dim)] = 1;
  }
  const std::int64_t count = product(sum.reduced);
  if (product(sum.ranges) == 1) return false;
  if (!is_on_gpu(input)) return count <= kOnCpu;
  if (!is_new_torch() || !is_low_precision(given)) return count <= kUnrolled;
  if (count > kMaxLow || (count > kUnrolled && count < kMinLow)) return false;
  sum.kind = Loops::Kind::reduction;
  sum.op = "sum";
  Positions where = variables(sum.ranges);
  for (std::size_t i = 0; i < dims.size(); ++i)
    where[static_cast<std::size_t>(dims[i])] =
        pool.loop(static_cast<int>(sizes.size() + i), sum.reduced[i]);
  read(sum, input, std::move(where));
  return split_count(sum) <= 1;
}

Boxes Lowering::lower_moments(const FxNode& of) {
  const DType type = dtype(argument(of.inputs[0]));
  const Box input =
      to_dtype(argument(of.inputs[0]), is_low_precision(type) ? DType::float32 : type);
  const Sizes sizes = shape(input), &dims = of.numbers;
  const DType wide = dtype(input);
  const bool keeps = of.scalars.size() == 1;
  Box variance, mean;
  if (has_two_steps(input, type, dims)) {
    mean = mean_of(input, dims, true);
    if (of.op != "var") realize(mean);
    const Box difference = pointwise("sub", {input, mean}, {}, wide);
    Loops squares = make_loops(difference, wide, sizes);
    const std::int16_t value = read(squares, difference, variables(sizes));
    append(squares, "mul", std::array{value, value});
    const Box sum = reduce("sum", box_of(std::move(squares)), dims, keeps, wide);
    Loops scaled = make_loops(sum, wide, shape(sum));
    const std::int16_t total = read(scaled, sum, variables(scaled.ranges));
    const std::int16_t divisor =
        index_value(scaled, pool.constant(static_cast<std::int64_t>(of.scalars[0])));
    append(scaled, "truediv", std::array{total, divisor});
    variance = box_of(std::move(scaled));
    if (!keeps) mean = reshape(mean, shape(variance));
  } else {
    // Welford's algorithm: the mean, the sum of squares of differences, and the count in one
    // reduction.
    Loops made = make_loops(input, wide, sizes);
    made.kind = Loops::Kind::softmax;
    made.op = "welford_reduce";
    made.ranges.clear();
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const bool is_reduced = std::ranges::find(dims, static_cast<std::int64_t>(i)) != dims.end();
      if (is_reduced) made.reduced.push_back(sizes[i]);
      if (!is_reduced || keeps) made.ranges.push_back(is_reduced ? 1 : sizes[i]);
    }
    const Positions outer = variables(made.ranges),
                    inner = variables(made.reduced, static_cast<int>(outer.size()));
    Positions where;
    for (std::size_t i = 0, kept = 0, taken = 0; i < sizes.size(); ++i) {
      const bool is_reduced = std::ranges::find(dims, static_cast<std::int64_t>(i)) != dims.end();
      where.push_back(is_reduced ? inner[taken++] : outer[kept]);
      if (!is_reduced || keeps) ++kept;
    }
    read(made, input, std::move(where));
    const Boxes parts = make_welford(made);
    Loops scaled = make_loops(parts[1], wide, shape(parts[1]));
    const std::int16_t sum = read(scaled, parts[1], variables(scaled.ranges));
    double elements = 1;
    for (const std::int64_t dim : dims)
      elements *= static_cast<double>(sizes[static_cast<std::size_t>(dim)]);
    const std::int16_t correction = constant(scaled, elements - of.scalars[0]);
    const std::int16_t all = constant(scaled, elements), zero = constant(scaled, 0);
    const std::int16_t rest = append(scaled, "sub", std::array{all, correction});
    const std::int16_t count = append(scaled, "maximum", std::array{zero, rest});
    append(scaled, "truediv", std::array{sum, count});
    variance = box_of(std::move(scaled));
    mean = parts[0];
  }
  return {to_dtype(variance, type), to_dtype(mean, type)};
}

}  // namespace jointer::kernels
