// Tensors whose elements lie elsewhere in another one: flipped, padded, repeated, sorted, looked
// up; and random numbers.
// Source: torch/_inductor/lowering.py (searchsorted, bucketize, rev, constant_pad_nd, _pad_as_cat,
// repeat, unfold, as_strided, diagonal, select_scatter, sort_stable, reduce_max, inductor_random),
// torch/_inductor/ir.py (Sort, ArgReduction, RandomSeeds).

#include <algorithm>
#include <array>

#include "core/kernels/lowering_state.h"
#include "core/kernels/slot.h"

namespace jointer::kernels {

// Each value is looked up in the boundaries, and their whole buffer counts as read.
Box Lowering::lower_bucketize(const FxNode& of) {
  const Box values = argument(of.inputs[0]);
  const Box boundaries = realize_input(argument(of.inputs[1]));
  Loops made = make_loops(values, of.result().dtype, shape(values));
  BodyOp search;
  search.op = "bucketize";
  search.operands[0] = read(made, values, variables(made.ranges));
  search.buffer = buffer_of(boundaries);
  search.at = IndexPool::kZero;
  append(made, std::move(search));
  const Box result = box_of(std::move(made));
  realize(result);
  return result;
}

Box Lowering::lower_flip(const FxNode& of) {
  const Box input = argument(of.inputs[0]);
  Loops made = make_loops(input, dtype(input), shape(input));
  Positions where = variables(made.ranges);
  for (const std::int64_t dim : of.numbers) {
    ExpressionIndex& at = where[static_cast<std::size_t>(dim)];
    at = pool.add(pool.constant(made.ranges[static_cast<std::size_t>(dim)] - 1),
                  pool.multiply(at, -1));
  }
  read(made, input, std::move(where));
  return box_of(std::move(made));
}

Box Lowering::lower_pad(const FxNode& of) {
  const Box input = argument(of.inputs[0]);
  const Sizes sizes = shape(input);
  Sizes padded_sizes = sizes;
  std::vector<std::size_t> padded_dims;
  bool is_at_end = is_on_gpu(input);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::int64_t before = of.numbers[2 * i], after = of.numbers[2 * i + 1];
    padded_sizes[i] += before + after;
    if (before != 0 || after != 0) padded_dims.push_back(i);
    is_at_end = is_at_end && before == 0 && after >= 0;
  }
  if (padded_dims.empty()) return clone(input);
  if (is_at_end && padded_dims.size() == 1 && is_new_torch()) {
    Sizes rest = sizes;
    rest[padded_dims[0]] = padded_sizes[padded_dims[0]] - sizes[padded_dims[0]];
    const Box filling = full(of.scalars[0], dtype(input), true, rest);
    return join({input, filling}, padded_dims[0], {of.inputs[0], -1});
  }
  Loops made = make_loops(input, dtype(input), padded_sizes);
  Positions where = variables(padded_sizes);
  std::int16_t mask = -1;
  const auto require = [&](std::string_view op, ExpressionIndex at, std::int64_t limit) {
    const std::int16_t index = index_value(made, at),
                       bound = index_value(made, pool.constant(limit));
    const std::int16_t test = append(made, op, std::array{index, bound});
    mask = mask < 0 ? test : append(made, "and_", std::array{mask, test});
  };
  for (const std::size_t i : padded_dims) {
    where[i] = pool.add(where[i], pool.constant(-of.numbers[2 * i]));
    if (of.numbers[2 * i] != 0) require("ge", where[i], 0);
    if (of.numbers[2 * i + 1] != 0) require("lt", where[i], sizes[i]);
  }
  const std::int16_t value = read(made, input, std::move(where));
  append(made, "masked", std::array{mask, value}, of.scalars[0]);
  return box_of(std::move(made));
}

Box Lowering::lower_repeat(const FxNode& of) {
  Box input = argument(of.inputs[0]);
  Sizes sizes = shape(input);
  if (of.numbers.size() > sizes.size()) {
    sizes.insert(sizes.begin(), of.numbers.size() - sizes.size(), 1);
    input = reshape(input, sizes);
  }
  Sizes repeated = sizes;
  bool is_expanded = true;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    repeated[i] *= of.numbers[i];
    is_expanded = is_expanded && (of.numbers[i] == 1 || sizes[i] == 1);
  }
  if (product(repeated) == 0)
    return empty({dtype(input), is_on_gpu(input), repeated, dense_strides(repeated)});
  if (is_expanded) return clone(expand(input, repeated));
  mark_reuse(input, product(repeated) / product(sizes), false);
  Loops made = make_loops(input, dtype(input), repeated);
  Positions where = variables(repeated);
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (of.numbers[i] != 1) where[i] = pool.modular(where[i], 1, sizes[i]);
  read(made, input, std::move(where));
  return box_of(std::move(made));
}

Box Lowering::lower_unfold(const FxNode& of) {
  const Box input = argument(of.inputs[0]);
  const Sizes sizes = shape(input);
  const auto dim = static_cast<std::size_t>(of.numbers[0]);
  const std::int64_t size = of.numbers[1], step = of.numbers[2];
  const std::int64_t windows = (sizes[dim] - size) / step + 1;
  mark_reuse(input, (windows * size + sizes[dim] - 1) / sizes[dim], false);
  ViewState made;
  made.shape = sizes;
  made.shape[dim] = windows;
  made.shape.push_back(size);
  Positions where = variables(made.shape);
  where[dim] = pool.add(pool.multiply(where[dim], step), where.back());
  where.pop_back();
  made.at = std::move(where);
  return add_view(input, std::move(made));
}

Box Lowering::lower_as_strided(const FxNode& of) {
  Box input = argument(of.inputs[0]);
  input.view = -1;
  realize(input);
  decide_layout(buffer_of(input));
  const auto rank = static_cast<std::ptrdiff_t>(of.result().shape.size());
  const auto sizes = of.numbers.begin() + 1;
  return strided_view(input, Sizes(sizes, sizes + rank), Sizes(sizes + rank, of.numbers.end()),
                      of.numbers[0]);
}

Box Lowering::lower_select_scatter(const FxNode& of) {
  const Box self = argument(of.inputs[0]);
  const Sizes sizes = shape(self);
  const auto dim = static_cast<std::size_t>(of.numbers[0]);
  Box source = to_dtype(argument(of.inputs[1]), dtype(self));
  Sizes one = sizes;
  one[dim] = 1;
  source = expand(reshape(source, one), sizes, true);
  Loops made = make_loops(self, dtype(self), sizes);
  const Positions where = variables(sizes);
  const std::int16_t index = index_value(made, where[dim]),
                     wanted = index_value(made, pool.constant(of.numbers[1]));
  const std::int16_t mask = append(made, "eq", std::array{index, wanted});
  const std::int16_t value = read(made, source, where), rest = read(made, self, where);
  append(made, "where", std::array{mask, value, rest});
  return box_of(std::move(made));
}

Box Lowering::lower_diagonal(const FxNode& of) {
  const Box input = argument(of.inputs[0]);
  const auto rows = static_cast<std::size_t>(of.numbers[1]),
             columns = static_cast<std::size_t>(of.numbers[2]);
  const Sizes sizes = shape(input);
  const std::int64_t row = std::max<std::int64_t>(0, -of.numbers[0]),
                     column = std::max<std::int64_t>(0, of.numbers[0]);
  ViewState made;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (i != rows && i != columns) made.shape.push_back(sizes[i]);
  made.shape.push_back(
      std::max<std::int64_t>(0, std::min(sizes[rows] - row, sizes[columns] - column)));
  const Positions own = variables(made.shape);
  for (std::size_t i = 0, next = 0; i < sizes.size(); ++i) {
    if (i == rows || i == columns)
      made.at.push_back(pool.add(own.back(), pool.constant(i == rows ? row : column)));
    else
      made.at.push_back(own[next++]);
  }
  return add_view(input, std::move(made));
}

Boxes Lowering::lower_sort(const FxNode& of) {
  const Box input = argument(of.inputs[0]);
  const Sizes sizes = shape(input);
  const auto axis = static_cast<std::size_t>(of.numbers[0]);
  Loops positions;
  positions.dtype = DType::int16;
  positions.is_on_gpu = is_on_gpu(input);
  positions.ranges = sizes;
  index_value(positions, variables(sizes)[axis]);
  Boxes results;
  for (const Box& each : {input, box_of(std::move(positions))}) {
    Loops made = make_loops(input, dtype(each), sizes);
    if (sizes[axis] <= 1) {
      read(made, each, variables(sizes));
      results.push_back(box_of(std::move(made)));
      continue;
    }
    made.kind = Loops::Kind::sort;
    made.op = "sort";
    Positions where = go_along(made, of.numbers[0]);
    // Each of the two ops also reads the keys by which it sorts.
    if (!results.empty()) read(made, input, where);
    read(made, each, std::move(where));
    results.push_back(box_of(std::move(made)));
    realize(results.back());
  }
  results[1] = to_dtype(results[1], DType::int64);
  return results;
}

Boxes Lowering::lower_arg_with_value(const FxNode& of) {
  const bool is_max = of.op == "argmax_with_value";
  const Box input = argument(of.inputs[0]);
  const Sizes dims(of.numbers.begin() + 1, of.numbers.end());
  const bool keeps = of.numbers[0] != 0;
  std::int64_t count = 1;
  for (const std::int64_t dim : dims) count *= shape(input)[static_cast<std::size_t>(dim)];
  const bool are_both_read = std::ranges::count_if(of.users, [this](FxId user) {
                               return fx_.nodes[slot(user)].kind == FxKind::getitem &&
                                      !fx_.nodes[slot(user)].users.empty();
                             }) == 2;
  if (!are_both_read || count < 2) {
    // An op whose result nothing reads is removed later.
    const Box value =
        reduce(is_max ? "argmax_value" : "argmin_value", input, dims, keeps, dtype(input));
    return {value, reduce(is_max ? "argmax" : "argmin", input, dims, keeps, DType::int64)};
  }
  const Box value = reduce(of.op, input, dims, keeps, dtype(input));
  return {value, reduce(of.op, input, dims, keeps, DType::int64)};
}

Box Lowering::lower_random_seeds(const FxNode& of) {
  return add_call(call_op(Op::Kind::extern_, "RandomSeeds", of.target), result_buffer(of.result()));
}

Box Lowering::lower_random_seed(const FxNode& of) {
  const Box seeds = argument(of.inputs[0]);
  Loops made = make_loops(seeds, dtype(seeds), {});
  BodyOp seed;
  seed.op = "load_seed";
  seed.buffer = buffer_of(seeds);
  seed.at = pool.constant(of.numbers[0]);
  append(made, std::move(seed));
  return box_of(std::move(made));
}

Box Lowering::lower_random(const FxNode& of) {
  const Box seed = argument(of.inputs[0]);
  Loops made = make_loops(seed, of.result().dtype, of.result().shape);
  const std::int16_t loaded = read(made, seed, {});
  const Sizes stride = dense_strides(made.ranges);
  ExpressionIndex at = IndexPool::kZero;
  const Positions where = variables(made.ranges);
  for (std::size_t i = 0; i < where.size(); ++i)
    at = pool.add(at, pool.multiply(where[i], stride[i]));
  const std::int16_t position = index_value(made, at);
  append(made, of.op, std::array{loaded, position});
  const Box result = box_of(std::move(made));
  if (of.op != "randint64") realize(result);
  return result;
}

}  // namespace jointer::kernels
