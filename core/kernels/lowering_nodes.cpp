// Lowers the nodes of a graph one after the other, and makes buffers of values by Inductor's rules.
// Source: torch/_inductor/graph.py (run_node, output, finalize), torch/_inductor/lowering.py.

#include <algorithm>
#include <array>

#include "core/kernels/channels_last.h"
#include "core/kernels/lowering_state.h"
#include "core/kernels/slot.h"

namespace jointer::kernels {
namespace {

constexpr int kMaxInlined = 100;  // has_large_inner_fn(threshold=100)

// True if the elements fill their memory without gaps or overlaps.
bool is_dense(const FxTensor& tensor) {
  const Sizes filled = filled_strides(tensor.shape, fill_order(tensor.stride));
  for (std::size_t i = 0; i < filled.size(); ++i)
    if (tensor.shape[i] != 1 && tensor.stride[i] != filled[i]) return false;
  return true;
}

bool is_comparison(std::string_view op) {
  constexpr std::array<std::string_view, 13> kOps{
      "eq",         "ne",          "lt",          "le",    "gt",    "ge",     "logical_and",
      "logical_or", "logical_not", "logical_xor", "isnan", "isinf", "signbit"};
  return std::ranges::find(kOps, op) != kOps.end();
}

DType wider(DType a, DType b) {
  if (a == b) return a;
  if (a == DType::boolean) return b;
  if (b == DType::boolean) return a;
  if (is_floating(a) != is_floating(b)) return is_floating(a) ? a : b;
  if (is_low_precision(a) && is_low_precision(b)) return DType::float32;
  return item_size(a) >= item_size(b) ? a : b;
}

}  // namespace

Lowering::Lowering(const FxGraph& fx, TorchVersion version)
    : is_call(fx.nodes.size(), false), env(fx.nodes.size()), fx_(fx), version_(version) {
  const std::size_t count = fx.nodes.size();
  loops.reserve(count);
  storages.reserve(count);
  views.reserve(count);
  origin_sets.reserve(2 * count);
  buffers.reserve(count);
  ops.reserve(count);
}

Boxes Lowering::arguments(const FxNode& of, std::size_t from) {
  Boxes result;
  for (std::size_t i = from; i < of.inputs.size(); ++i)
    result.push_back(of.inputs[i] < 0 || env[slot(of.inputs[i])].empty() ? Box{}
                                                                         : argument(of.inputs[i]));
  return result;
}

Box Lowering::lower_placeholder(const FxNode& of) {
  BufferState made = result_buffer(of.result());
  made.is_input = true;
  made.is_constant = of.kind == FxKind::constant;
  made.name = of.name;
  current = 0;
  return box_of_buffer(add_buffer(std::move(made)));
}

Box Lowering::lower_constant(const FxNode& of) {
  // A number becomes part of the loops; larger constants are buffers, like inputs.
  if (of.result().shape.empty()) {
    const SetId before = current;
    current = 0;
    const Box box = full(0, of.result().dtype, of.result().is_on_gpu, {});
    current = before;
    return box;
  }
  return lower_placeholder(of);
}

Box Lowering::lower_pointwise(const FxNode& of) {
  Boxes inputs = arguments(of);
  const DType result = of.result().dtype;
  DType computed = result;
  if (is_comparison(of.op)) {
    computed = dtype(inputs.front());
    for (const Box& input : inputs) {
      // A tensor without dimensions does not widen the type of one that has dimensions.
      const bool is_scalar = shape(input).empty() && !shape(inputs.front()).empty();
      if (!is_scalar) computed = wider(computed, dtype(input));
    }
  }
  const std::size_t first = of.op == "where" ? 1 : 0;
  for (std::size_t i = first; i < inputs.size(); ++i) {
    // A number on the CPU becomes part of loops on the GPU.
    if (!is_on_gpu(inputs[i]) && of.result().is_on_gpu && !is_realized(inputs[i])) {
      Loops moved = make_loops(inputs[i], dtype(inputs[i]), shape(inputs[i]));
      read(moved, inputs[i], variables(moved.ranges));
      moved.is_on_gpu = true;
      inputs[i] = box_of(std::move(moved));
    }
    inputs[i] = to_dtype(inputs[i], computed);
  }
  return pointwise(of.op, std::move(inputs), of.scalars, result, of.reals);
}

Box Lowering::lower_mean(const FxNode& of) {
  Box input = argument(of.inputs[0]);
  if (is_low_precision(dtype(input))) input = to_dtype(input, DType::float32);
  const Sizes dims(of.numbers.begin() + 1, of.numbers.end());
  return to_dtype(mean_of(input, dims, of.numbers[0] != 0), of.result().dtype);
}

Box Lowering::mean_of(const Box& input, const Sizes& dims, bool keeps) {
  const Box sum = reduce("sum", input, dims, keeps, dtype(input));
  std::int64_t count = 1;
  for (const std::int64_t dim : dims) count *= shape(input)[static_cast<std::size_t>(dim)];
  Loops made = make_loops(sum, dtype(sum), shape(sum));
  const std::int16_t value = read(made, sum, variables(made.ranges));
  const std::int16_t divisor = index_value(made, pool.constant(count));
  append(made, "truediv", std::array{value, divisor});
  return box_of(std::move(made));
}

bool Lowering::is_pointwise_use(FxId user, bool counts_joins) const {
  const FxNode& of = fx_.nodes[slot(user)];
  switch (of.kind) {
    case FxKind::getitem:
    case FxKind::reshape:
    case FxKind::permute:
    case FxKind::expand:
    case FxKind::slice:
    case FxKind::split:
    case FxKind::alias:
      return std::ranges::all_of(of.users,
                                 [&](FxId each) { return is_pointwise_use(each, counts_joins); });
    case FxKind::pointwise:
    case FxKind::convert:
    case FxKind::clone:
      return true;
    case FxKind::cat:
    case FxKind::pad:
      return counts_joins;
    default:
      return false;
  }
}

Box Lowering::lower_cat(const FxNode& of) {
  Boxes inputs = arguments(of);
  for (Box& input : inputs) input = to_dtype(input, of.result().dtype);
  return join(std::move(inputs), static_cast<std::size_t>(of.numbers[0]), of.inputs);
}

Box Lowering::join(Boxes inputs, std::size_t dim, const FxIds& ids) {
  const FxNode& of = fx_.nodes[slot(node)];
  if (!of.result().is_on_gpu) return concatenate(inputs, dim);
  // True if a concatenation would copy the input anyway.
  const auto must_be_copied = [this](const Box& box) {
    if (!is_realized(box)) return true;
    if (box.view >= 0 && !view(box).is_strided) {
      const BufferState& state = buffer(buffer_of(box));
      return state.layout != BufferState::Layout::flexible || state.allocates_itself;
    }
    const BufferState& state = buffer(buffer_of(box));
    return state.layout != BufferState::Layout::flexible || state.allocates_itself;
  };
  const BufferId recombined = is_new_torch() ? recombined_reduction(inputs) : -1;
  const auto is_reduced = [&](BufferId id) {
    const std::int32_t computed = buffer(id).loops;
    return id != recombined && computed >= 0 && loops_of(computed).is_reduction();
  };
  const auto reads_reduction = [&](const Box& box) {
    if (is_realized(box)) return is_reduced(buffer_of(box));
    return std::ranges::any_of(loops_of(storage(box).loops).body, [&](const BodyOp& op) {
      return op.buffer >= 0 && is_reduced(op.buffer);
    });
  };
  const auto count = [this](const Box& box) {
    return is_realized(box) ? 0 : loops_of(storage(box).loops).operation_count();
  };
  constexpr std::size_t kMaxComplex = 8, kMaxInputs = 8;
  constexpr int kSimple = 2;
  const bool may_be_pointwise =
      inputs.size() <= kMaxComplex ||
      (inputs.size() <= kMaxInputs &&
       std::ranges::all_of(inputs, [&](const Box& box) { return count(box) <= kSimple; }));
  if (may_be_pointwise) {
    const bool is_read_pointwise =
        std::ranges::all_of(of.users, [this](FxId user) { return is_pointwise_use(user, true); });
    const bool saves_copies = std::ranges::any_of(inputs, must_be_copied) && is_read_pointwise;
    const bool copies_all = std::ranges::all_of(inputs, must_be_copied) &&
                            !std::ranges::any_of(inputs, reads_reduction);
    bool is_shared = false;
    for (std::size_t i = 0; i < inputs.size() && is_new_torch(); ++i) {
      if (ids[i] < 0) continue;
      const FxIds& users = fx_.nodes[slot(ids[i])].users;
      if (users.size() <= 1) continue;
      is_shared =
          is_shared || !is_realized(inputs[i]) || std::ranges::any_of(users, [this](FxId user) {
            return user != node && is_pointwise_use(user, false);
          });
    }
    if (!is_shared && (saves_copies || copies_all)) return pointwise_cat(inputs, dim);
  }
  return concatenate(inputs, dim);
}

Box Lowering::empty(const FxTensor& tensor) {
  const Box box = full(0, tensor.dtype, tensor.is_on_gpu, tensor.shape);
  realize(box);
  const BufferId id = buffer_of(box);
  loops[static_cast<std::size_t>(storage(box).loops)].ranges.assign(tensor.shape.size(), 0);
  buffer(id).layout = BufferState::Layout::fixed;
  if (tensor.stride.size() == tensor.shape.size()) buffer(id).stride = tensor.stride;
  ops.back().kind = Op::Kind::nop;
  return box;
}

Box Lowering::lower_empty(const FxNode& of) {
  FxTensor dense = of.result();
  dense.stride = dense_strides(dense.shape);
  return empty(dense);
}

Box Lowering::lower_slice_scatter(const FxNode& of) {
  const Box self = argument(of.inputs[0]);
  const Sizes sizes = shape(self);
  const auto dim = static_cast<std::size_t>(of.numbers[0]);
  const std::int64_t start = of.numbers[1], end = of.numbers[2], step = of.numbers[3];
  Sizes part = sizes;
  part[dim] = (end - start + step - 1) / step;
  const Box source = expand(to_dtype(argument(of.inputs[1]), dtype(self)), part);
  Loops made = make_loops(self, dtype(self), sizes);
  const Positions where = variables(sizes);
  if (start == 0 && end == sizes[dim] && step == 1) {
    read(made, source, where);
    return box_of(std::move(made));
  }
  const std::int16_t index = index_value(made, where[dim]);
  std::vector<std::int16_t> masks;
  if (start != 0)
    masks.push_back(append(made, "ge", std::array{index, index_value(made, pool.constant(start))}));
  if (end != sizes[dim])
    masks.push_back(append(made, "lt", std::array{index, index_value(made, pool.constant(end))}));
  if (step != 1) {
    const ExpressionIndex rest = pool.modular(pool.add(where[dim], pool.constant(-start)), 1, step);
    masks.push_back(
        append(made, "eq", std::array{index_value(made, rest), constant(made, 0, DType::int64)}));
  }
  std::int16_t mask = masks.front();
  for (std::size_t i = 1; i < masks.size(); ++i)
    mask = append(made, "and_", std::array{mask, masks[i]});
  Positions inner = where;
  inner[dim] = pool.divide(pool.add(where[dim], pool.constant(-start)), step);
  const std::int16_t value = read(made, source, std::move(inner));
  const std::int16_t masked = append(made, "masked", std::array{mask, value});
  const std::int16_t rest = read(made, self, where);
  append(made, "where", std::array{mask, masked, rest});
  return box_of(std::move(made));
}

Box Lowering::lower_scatter(const FxNode& of) {
  Box self = argument(of.inputs[0]);
  if (of.kind == FxKind::scatter) self = clone(self);
  const Box index = argument(of.inputs[1]), source = argument(of.inputs[2]);
  const bool adds = of.numbers[1] != 0, is_of_number = of.target.ends_with(".value");
  const bool is_called = !of.op.empty() ||
                         (adds && (lacks_atomic_addition(dtype(self)) || !is_on_gpu(self))) ||
                         (!is_of_number && is_on_gpu(self) && lacks_atomic_addition(dtype(source)));
  if (is_called) {
    call_in_place("ScatterFallback", "aten.scatter_reduce_.two",
                  is_of_number ? Boxes{self, index} : Boxes{self, index, source});
    return self;
  }
  realize(self);
  Loops made = make_loops(self, dtype(self), shape(index));
  made.kind = Loops::Kind::scatter;
  made.adds = adds;
  const Positions where = variables(made.ranges);
  const auto dim = static_cast<std::size_t>(of.numbers[0]);
  made.store = where;
  made.store[dim] = indirect(made, read(made, index, where), shape(self)[dim]);
  made.stored_after = made.body.size();
  read(made, source, where);
  mark_mutated(buffer_of(self));
  scatter_into(self, std::move(made));
  return self;
}

Box Lowering::lower_embedding(const FxNode& of) {
  const Box weights = argument(of.inputs[0]), indices = argument(of.inputs[1]);
  const Sizes table = shape(weights);
  Sizes sizes = shape(indices);
  const std::size_t rank = sizes.size();
  sizes.insert(sizes.end(), table.begin() + 1, table.end());
  Loops made = make_loops(weights, dtype(weights), sizes);
  const Positions where = variables(sizes);
  const Positions of_index(where.begin(), where.begin() + static_cast<std::ptrdiff_t>(rank));
  Positions position{indirect(made, read(made, indices, of_index), table[0])};
  position.insert(position.end(), where.begin() + static_cast<std::ptrdiff_t>(rank), where.end());
  read(made, weights, std::move(position));
  return box_of(std::move(made));
}

Box Lowering::lower_gather(const FxNode& of) {
  const Box self = argument(of.inputs[0]), index = argument(of.inputs[1]);
  Loops made = make_loops(self, dtype(self), shape(index));
  const Positions where = variables(made.ranges);
  Positions position = where;
  const auto dim = static_cast<std::size_t>(of.numbers[0]);
  position[dim] = indirect(made, read(made, index, where), shape(self)[dim]);
  read(made, self, std::move(position));
  return box_of(std::move(made));
}

Box Lowering::lower_index(const FxNode& of) {
  const Box self = argument(of.inputs[0]);
  const Boxes indices = arguments(of, 1);
  const IndexPlan plan = plan_index(shape(self), indices);
  Loops made = make_loops(self, dtype(self), plan.result);
  read(made, self, index_positions(made, plan, shape(self), variables(made.ranges)));
  return box_of(std::move(made));
}

Box Lowering::lower_masked_index_add(const FxNode& of) {
  const Box self = argument(of.inputs[0]), values = argument(of.inputs[1]),
            mask = argument(of.inputs[2]);
  // Masked values do not count: they become 0, and their positions are clamped.
  const DType type = dtype(self);
  const Box zero = full(0, dtype(values), is_on_gpu(values), {});
  const Box masked = pointwise("where", {mask, values, zero}, {}, dtype(values));
  Boxes indices = arguments(of, 3);
  const Sizes sizes = shape(self);
  for (std::size_t i = 0; i < indices.size(); ++i) {
    if (indices[i].storage < 0) continue;
    const auto size = static_cast<double>(sizes[i]);
    Loops clamped = make_loops(indices[i], dtype(indices[i]), shape(indices[i]));
    const std::int16_t value = read(clamped, indices[i], variables(clamped.ranges));
    const std::int16_t below =
        append(clamped, "minimum", std::array{constant(clamped, size - 1, clamped.dtype), value});
    append(clamped, "maximum", std::array{constant(clamped, -size, clamped.dtype), below});
    indices[i] = box_of(std::move(clamped));
  }
  return index_put(clone(self), to_dtype(masked, type), indices, true);
}

Box Lowering::lower_scan(const FxNode& of) {
  if (!of.result().is_on_gpu) return lower_fallback(of).front();
  const Box input = to_dtype(argument(of.inputs[0]), of.result().dtype);
  const Sizes sizes = shape(input);
  const auto axis = static_cast<std::size_t>(of.numbers[0]);
  Loops made = make_loops(input, dtype(input), sizes);
  if (sizes.empty() || sizes[axis] <= 1) {
    read(made, input, variables(sizes));
    return box_of(std::move(made));
  }
  made.kind = Loops::Kind::scan;
  made.op = "custom";
  read(made, input, go_along(made, of.numbers[0]));
  if (split_count(made) > 1) made.op = "split";
  const Box result = box_of(std::move(made));
  realize(result);
  return result;
}

// The second layer of a softmax that is computed in pieces.
Loops Lowering::joined_softmax(const Loops& made, std::int64_t split, int dense) {
  Loops first = split_layer(made, split, dense);
  first.split = 0;
  first.unsplit = -1;
  Loops second = second_layer(made, {split});
  Boxes parts;
  for (int i = 0; i < 2; ++i) {
    parts.push_back(box_of(first));
    realize(parts.back());
  }
  for (const Box& part : parts) {
    Positions where = variables(made.ranges);
    where.push_back(pool.loop(static_cast<int>(made.ranges.size()), split));
    read(second, part, std::move(where));
  }
  return second;
}

Boxes Lowering::lower_softmax(const FxNode& of) {
  const Box input = argument(of.inputs[0]);
  const Sizes sizes = shape(input);
  const auto dim = static_cast<std::size_t>(of.numbers[0]);
  Loops made = make_loops(input, dtype(input), sizes);
  made.kind = Loops::Kind::softmax;
  made.op = "online_softmax_reduce";
  made.ranges[dim] = 1;
  made.reduced = {sizes[dim]};
  Positions where = variables(made.ranges);
  where[dim] = pool.loop(static_cast<int>(sizes.size()), sizes[dim]);
  read(made, input, std::move(where));
  const std::int64_t split = sizes[dim] < kUnrolled ? 1 : split_count(made);
  if (sizes[dim] < kUnrolled || (split > 1 && !is_new_torch())) {
    const Box maximum = reduce("max", input, {of.numbers[0]}, true, dtype(input));
    const Box shifted = pointwise("sub", {input, maximum}, {}, dtype(input));
    const Box exponential = pointwise("exp", {shifted}, {}, dtype(input));
    return {maximum, reduce("sum", exponential, {of.numbers[0]}, true, dtype(input))};
  }
  if (split > 1) made = joined_softmax(made, split, dense_dimension(made, &input));
  // Each result is a separate operation; fusion joins them.
  Boxes results;
  for (int i = 0; i < 2; ++i) {
    results.push_back(box_of(made));
    realize(results.back());
  }
  return results;
}

void Lowering::lower_node(FxId id) {
  const FxNode& of = fx_.nodes[slot(id)];
  node = id;
  origin_sets.push_back({id});
  current = static_cast<SetId>(origin_sets.size()) - 1;
  for (const FxId input : of.inputs)
    if (input >= 0)
      for (const Box& box : env[slot(input)]) add_gathered_origins(box);
  Boxes& results = env[slot(id)];
  switch (of.kind) {
    case FxKind::placeholder:
      results = {lower_placeholder(of)};
      return;
    case FxKind::constant:
      results = {lower_constant(of)};
      return;
    case FxKind::output:
      return lower_output(of);
    case FxKind::alias:
      results = {argument(of.inputs[0])};
      break;
    case FxKind::reshape:
      results = {reshape(argument(of.inputs[0]), of.numbers)};
      break;
    case FxKind::permute:
      results = {permute(argument(of.inputs[0]), of.numbers)};
      break;
    case FxKind::expand:
      results = {expand(argument(of.inputs[0]), of.numbers)};
      break;
    case FxKind::slice:
      results = {slice(argument(of.inputs[0]), static_cast<std::size_t>(of.numbers[0]),
                       of.numbers[1], of.numbers[2], of.numbers[3])};
      break;
    case FxKind::split: {
      std::int64_t start = 0;
      const Box source = argument(of.inputs[0]);
      for (std::size_t i = 1; i < of.numbers.size(); ++i) {
        const std::int64_t end = start + of.numbers[i];
        results.push_back(slice(source, static_cast<std::size_t>(of.numbers[0]), start, end, 1));
        start = end;
      }
      return;
    }
    case FxKind::getitem:
      results = {env[slot(of.inputs[0])][static_cast<std::size_t>(of.numbers[0])]};
      break;
    case FxKind::pointwise:
      if (of.has_side_effects) realize(argument(of.inputs[0]));
      results = {lower_pointwise(of)};
      if (of.has_side_effects) {
        realize(results.front());
        ops.back().has_side_effects = true;
      }
      break;
    case FxKind::foreach_:
      results = lower_foreach(of);
      return;
    case FxKind::convert: {
      const Box input = argument(of.inputs[0]);
      results = {dtype(input) == of.result().dtype ? clone(input)
                                                   : to_dtype(input, of.result().dtype)};
      break;
    }
    case FxKind::clone:
      results = {clone(argument(of.inputs[0]))};
      break;
    case FxKind::full:
      results = {full(of.scalars[0], of.result().dtype, of.result().is_on_gpu, of.result().shape,
                      of.reals != 0)};
      break;
    case FxKind::iota: {
      Loops made;
      made.dtype = of.result().dtype;
      made.is_on_gpu = of.result().is_on_gpu;
      made.ranges = of.result().shape;
      index_value(made, made.ranges.empty() ? IndexPool::kZero : pool.loop(0, made.ranges[0]));
      results = {box_of(std::move(made))};
      break;
    }
    case FxKind::empty:
      results = {lower_empty(of)};
      break;
    case FxKind::cat:
      results = {lower_cat(of)};
      break;
    case FxKind::reduce:
      results = {reduce(
          of.op,
          to_dtype(argument(of.inputs[0]), of.op == "any" ? DType::boolean : of.result().dtype),
          Sizes(of.numbers.begin() + 1, of.numbers.end()), of.numbers[0] != 0, of.result().dtype)};
      break;
    case FxKind::mean:
      results = {lower_mean(of)};
      break;
    case FxKind::online_softmax:
      results = lower_softmax(of);
      return;
    case FxKind::moments:
      results = lower_moments(of);
      return;
    case FxKind::scan:
      results = {lower_scan(of)};
      break;
    case FxKind::arg_with_value:
      results = lower_arg_with_value(of);
      return;
    case FxKind::sort:
      results = lower_sort(of);
      return;
    case FxKind::bucketize:
      results = {lower_bucketize(of)};
      break;
    case FxKind::flip:
      results = {lower_flip(of)};
      break;
    case FxKind::pad:
      results = {lower_pad(of)};
      break;
    case FxKind::repeat:
      results = {lower_repeat(of)};
      break;
    case FxKind::unfold:
      results = {lower_unfold(of)};
      break;
    case FxKind::as_strided:
      results = {lower_as_strided(of)};
      break;
    case FxKind::select_scatter:
      results = {lower_select_scatter(of)};
      break;
    case FxKind::diagonal:
      results = {lower_diagonal(of)};
      break;
    case FxKind::max_pool:
      results = lower_max_pool(of);
      return;
    case FxKind::pool_positions:
      results = {lower_pool_positions(of)};
      break;
    case FxKind::average_pool:
      results = {lower_average_pool(of)};
      break;
    case FxKind::average_pool_gradient:
      results = {lower_average_pool_gradient(of)};
      break;
    case FxKind::adaptive_pool:
      results = lower_adaptive_pool(of);
      if (of.is_tuple) return;
      break;
    case FxKind::random_seeds:
      results = {lower_random_seeds(of)};
      break;
    case FxKind::random_seed:
      results = {lower_random_seed(of)};
      break;
    case FxKind::random:
      results = {lower_random(of)};
      break;
    case FxKind::index:
      results = {lower_index(of)};
      break;
    case FxKind::index_put:
      results = {index_put(clone(argument(of.inputs[0])), argument(of.inputs[1]), arguments(of, 2),
                           of.numbers[0] != 0)};
      break;
    case FxKind::index_put_in_place:
      results = {index_put(argument(of.inputs[0]), argument(of.inputs[1]), arguments(of, 2),
                           of.numbers[0] != 0)};
      break;
    case FxKind::masked_index_add:
      results = {lower_masked_index_add(of)};
      break;
    case FxKind::embedding:
      results = {lower_embedding(of)};
      break;
    case FxKind::gather:
      results = {lower_gather(of)};
      break;
    case FxKind::scatter:
    case FxKind::scatter_in_place:
      results = {lower_scatter(of)};
      break;
    case FxKind::slice_scatter:
      results = {lower_slice_scatter(of)};
      break;
    case FxKind::copy_in_place:
      results = {mutate_to(argument(of.inputs[0]),
                           expand(to_dtype(argument(of.inputs[1]), dtype(argument(of.inputs[0]))),
                                  shape(argument(of.inputs[0]))))};
      break;
    case FxKind::matmul:
    case FxKind::alloc_call:
      results = {lower_matmul(of)};
      break;
    case FxKind::convolution:
      results = {lower_convolution(of)};
      break;
    case FxKind::convolution_gradient:
      results = lower_convolution_gradient(of);
      return;
    case FxKind::fallback:
      results = lower_fallback(of);
      if (of.is_tuple || results.empty()) return;
      break;
    case FxKind::all_reduce:
    case FxKind::all_reduce_in_place:
      results = {lower_all_reduce(of, of.kind == FxKind::all_reduce_in_place)};
      break;
    case FxKind::collective:
      if (of.is_tuple) {
        results = lower_fallback(of);
        return;
      }
      results = {lower_collective(of)};
      break;
    case FxKind::wait:
      results = {lower_wait(of)};
      break;
    case FxKind::device_copy:
      results = {lower_device_copy(of)};
      break;
    case FxKind::flex_attention:
      results = lower_flex_attention(of);
      return;
    case FxKind::flex_attention_gradient:
      results = lower_flex_gradient(of);
      return;
  }
  finish_node(id, results.front());
}

void Lowering::finish_node(FxId id, Box& result) {
  const FxNode& of = fx_.nodes[slot(id)];
  const bool is_output =
      !of.users.empty() && fx_.nodes[slot(of.users.back())].kind == FxKind::output;
  if (is_output && result.view >= 0) realize(result);
  const bool is_last = !of.results.empty() && !with_channels_last.empty() &&
                       with_channels_last[slot(id)] && shape(result).size() == 4 &&
                       is_dense(of.result());
  if (is_output && !of.results.empty() && !of.result().stride.empty()) {
    const bool is_seen_through_view = of.is_view || result.view >= 0;
    const Sizes stride = is_last ? channels_last_strides(shape(result)) : of.result().stride;
    result = is_seen_through_view ? require_order(result, stride_order(stride), true)
                                  : require_exact(result, stride, true);
  }
  if (of.users.size() > 1) {
    for (const FxId user : of.users) {
      const FxNode& reader = fx_.nodes[slot(user)];
      if (reader.needs_realized_inputs()) {
        realize_hint(result);
        const bool needs_order =
            (reader.kind == FxKind::matmul && reader.target == "aten.mm.default") ||
            reader.kind == FxKind::convolution_gradient ||
            (reader.kind == FxKind::convolution && with_channels_last.empty());
        if (needs_order) result = require_order(result, stride_order(of.result().stride), true);
      }
      if (reader.kind == FxKind::output && !is_realized(result)) {
        const Loops& computed = loops_of(storage(result).loops);
        if (is_new_torch() && computed.reads() == 0 && computed.operation_count() <= kMaxInlined)
          continue;
        realize(result);
      }
    }
    const auto users = static_cast<std::int64_t>(of.users.size());
    if (is_last && should_realize_on_reuse(result, users, true))
      result = require_channels_last(result);
    mark_reuse(result, users, true);
  }
  if (has_exceeded_reads(result)) {
    if (is_last) result = require_channels_last(result);
    realize_hint(result);
  }
  if (result.view < 0 && !is_realized(result) &&
      loops_of(storage(result).loops).operation_count() > kMaxInlined)
    realize(result);
  if (result.view < 0) storages[slot(result.storage)].value_of = id;
  note_readers(result);
}

void Lowering::finish_input(FxId id) {
  const FxTensor& given = fx_.nodes[slot(id)].result();
  if (given.stride.size() != given.shape.size()) return;
  node = id;
  origin_sets.push_back({id});
  current = static_cast<SetId>(origin_sets.size()) - 1;
  finish_node(id, argument(id));
}

void Lowering::lower_output(const FxNode& end) {
  without_padding.clear();  // buffers realized from here on belong to the output, not to a value
  for (const FxId id : end.inputs) {
    if (id < 0 || env[slot(id)].empty()) continue;
    Box& box = argument(id);
    node = id;
    origin_sets.push_back({id});
    current = union_of(static_cast<SetId>(origin_sets.size()) - 1, box.origins);
    box = realize_input(box);
    outputs.push_back(buffer_of(box));
  }
}

void Lowering::run(CancellationPoll& poll) {
  with_channels_last = nodes_with_channels_last(fx_, version_);
  without_padding = nodes_without_padding(fx_);
  // Inputs and constants come first, so that the other buffers have the numbers in Inductor's
  // names.
  const auto count = static_cast<FxId>(fx_.nodes.size());
  const auto is_given = [this](FxId id) {
    const FxKind kind = fx_.nodes[slot(id)].kind;
    return kind == FxKind::placeholder ||
           (kind == FxKind::constant && !fx_.nodes[slot(id)].result().shape.empty());
  };
  for (FxId id = 0; id < count; ++id)
    if (is_given(id)) lower_node(id);
  input_count = buffers.size();
  for (FxId id = 0; id < count; ++id) {
    if (poll.is_cancelled_throttled()) return;
    if (is_given(id))
      finish_input(id);
    else
      lower_node(id);
  }
  for (std::size_t i = input_count; i < buffers.size(); ++i)
    decide_layout(static_cast<BufferId>(i));
  for (const StorageState& state : storages) {
    if (state.buffer < 0 || state.loops < 0) continue;
    const OpId op = buffer(state.buffer).op;
    if (op >= 0 && ops[slot(op)].loops == state.loops) ops[slot(op)].value_of = state.value_of;
  }
}

}  // namespace jointer::kernels
