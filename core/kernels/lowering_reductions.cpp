// Reductions, which are split in two layers where they have too few results to occupy the GPU.
// Source: torch/_inductor/ir.py (Reduction.create, num_splits, create_multilayer,
// OnlineSoftmaxReduction), torch/_inductor/choices.py (reduction_split_factor). The numbers are
// those of an H100. Deviation: a reduction to one element never takes over the loops of the
// reduction that it reads.

#include <algorithm>
#include <array>
#include <cstdlib>

#include "core/kernels/lowering_state.h"

namespace jointer::kernels {
namespace {

constexpr std::int64_t kProcessors = 132, kThreadsPerProcessor = 2048, kWarp = 32;
constexpr std::int64_t kUnrolled = 8;  // unroll_reductions_threshold
constexpr std::int64_t kMinPerThread = 32, kMaxPerThread = 512;
constexpr std::int64_t kMinPerDevice = kMinPerThread * kProcessors * kThreadsPerProcessor;
constexpr std::int64_t kMaxPerDevice = kMaxPerThread * kProcessors * kThreadsPerProcessor;
constexpr std::int64_t kThreads = kWarp * 8;
constexpr std::int64_t kUnsplitInner = 8192;
constexpr std::int64_t kValuesPerThread = 4, kResultsPerBlock = 128;

std::int64_t up(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

// The divisor of `number` that is nearest to `goal`; the smaller of two.
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
  if (!made.is_on_gpu) return 1;
  if (results == 1) return inner_splits(reduced, results);
  if (reduced <= kMinPerThread || results >= kProcessors * 2 * kWarp) return 1;
  // Do the loads that use all loops go along the reduced loops?
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

Box Lowering::make_split_reduction(Loops made, std::int64_t split) {
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
  for (const ExpressionIndex each : reshape_positions(reduced, {count}, {whole}))
    where.push_back(each);
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
  const Box partial = make_reduction(std::move(first));
  realize(partial);
  Loops second;
  second.kind = made.kind;
  second.op = made.op;
  second.is_on_gpu = made.is_on_gpu;
  second.dtype = made.dtype;
  second.ranges = ranges;
  second.reduced = {split};
  Positions at = variables(ranges);
  at.push_back(pool.loop(static_cast<int>(ranges.size()), split));
  read(second, partial, std::move(at));
  return box_of(std::move(second));
}

Box Lowering::make_reduction(Loops made) {
  const std::int64_t count = product(made.reduced);
  if (count == 0) return full(made.op == "prod" ? 1 : 0, made.dtype, made.is_on_gpu, made.ranges);
  // On the CPU, a reduction to one element keeps its loop.
  if (count == 1 || (count < kUnrolled && (made.is_on_gpu || product(made.ranges) != 1))) {
    // So few elements that each gets its own operations.
    Loops unrolled;
    unrolled.dtype = made.dtype;
    unrolled.is_on_gpu = made.is_on_gpu;
    unrolled.ranges = made.ranges;
    std::int16_t value = -1;
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
      value =
          i == 0 ? element
                 : append(unrolled, made.op == "sum" ? "add" : made.op, std::array{value, element});
    }
    // The value is the last operation even if an equal one came before.
    if (static_cast<std::size_t>(value) + 1 != unrolled.body.size())
      append(unrolled, "identity", std::array{value});
    return box_of(std::move(unrolled));
  }
  const std::int64_t split = split_count(made);
  if (split > 1) {
    const Box result = make_split_reduction(std::move(made), split);
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
  std::vector<bool> is_reduced(sizes.size(), false);
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
  return make_reduction(std::move(made));
}

}  // namespace jointer::kernels
