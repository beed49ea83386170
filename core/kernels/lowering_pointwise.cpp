// Element-wise operations, copies and concatenations.
// Source: torch/_inductor/lowering.py (make_pointwise, to_dtype, clone, cat, pointwise_cat,
// _cat_inputs_recombine_reduction, mutate_to), torch/_inductor/ir.py (ConcatKernel).

#include <algorithm>
#include <array>
#include <cmath>

#include "core/kernels/channels_last.h"
#include "core/kernels/lowering_state.h"
#include "core/kernels/slot.h"

namespace jointer::kernels {
namespace {

constexpr double kLargestPower = 32;

}  // namespace

Box Lowering::to_dtype(const Box& box, DType type) {
  if (dtype(box) == type) return box;
  Loops made = make_loops(box, type, shape(box));
  const std::int16_t value = read(made, box, variables(made.ranges));
  append(made, "to_dtype", std::array{value}, static_cast<double>(type));
  return box_of(std::move(made));
}

Box Lowering::clone(const Box& box) {
  Loops made = make_loops(box, dtype(box), shape(box));
  read(made, box, variables(made.ranges));
  return box_of(std::move(made));
}

Box Lowering::full(double value, DType type, bool is_gpu, const Sizes& sizes, bool is_real) {
  Loops made;
  made.dtype = type;
  made.is_on_gpu = is_gpu;
  made.ranges = sizes;
  constant(made, value, type, is_real);
  return box_of(std::move(made));
}

Box Lowering::pointwise(std::string_view op, Boxes inputs, std::span<const double> scalars,
                        DType type, unsigned reals) {
  inputs = broadcast(std::move(inputs));
  Loops made = make_loops(inputs.front(), type, shape(inputs.front()));
  for (const Box& input : inputs) made.is_on_gpu = made.is_on_gpu || is_on_gpu(input);
  const Positions where = variables(made.ranges);
  SmallVector<std::int16_t, 8> operands;
  for (const Box& input : inputs) operands.push_back(read(made, input, where));
  if (op == "pow" && scalars.size() == 1 && operands.size() == 1) {
    const double exponent = scalars[0];
    if (exponent == std::floor(exponent) && std::abs(exponent) < kLargestPower) {
      std::int16_t base = operands[0];
      if (exponent < 0) base = append(made, "reciprocal", std::array{base});
      auto rest = static_cast<int>(std::abs(exponent));
      int bit = 1;
      while (bit * 2 <= rest) bit *= 2;
      std::int16_t value = rest == 0 ? constant(made, 1, type) : base;
      for (rest -= bit, bit /= 2; bit > 0; bit /= 2) {
        value = append(made, "mul", std::array{value, value});
        if (rest >= bit) {
          value = append(made, "mul", std::array{value, base});
          rest -= bit;
        }
      }
      return box_of(std::move(made));
    }
    if (exponent == 0.5) {
      append(made, "sqrt", operands);
      return box_of(std::move(made));
    }
  }
  const DType scalar_type = dtype(inputs.front());
  const bool divides_by_number = op == "truediv" && scalars.size() == 1;
  for (std::size_t i = 0; i < scalars.size(); ++i) {
    const bool is_inverse = divides_by_number && scalars[i] != 0;
    operands.push_back(constant(made, is_inverse ? 1 / scalars[i] : scalars[i], scalar_type,
                                is_inverse || (reals >> i & 1U) != 0));
  }
  append(made, divides_by_number ? "mul" : op, operands);
  return box_of(std::move(made));
}

BufferId Lowering::recombined_reduction(const Boxes& inputs) {
  if (inputs.size() < 2) return -1;
  const auto reads = [this](const Box& box, BufferId id) {
    if (is_realized(box)) return buffer_of(box) == id;
    return std::ranges::any_of(loops_of(storage(box).loops).body,
                               [id](const BodyOp& op) { return op.buffer == id; });
  };
  const auto is_common = [&](BufferId id) {
    return std::ranges::all_of(inputs, [&](const Box& box) { return reads(box, id); });
  };
  const std::int64_t count = product(fx_.nodes[slot(node)].result().shape);
  const auto reduces_as_many = [&](BufferId id) {
    const std::int32_t computed = buffer(id).loops;
    if (computed < 0 || !loops_of(computed).is_reduction() || loops_of(computed).keeps_axis())
      return false;
    return product(loops_of(computed).ranges) * product(loops_of(computed).reduced) == count;
  };
  const auto is_joined = [&](FxId reader) {
    return std::ranges::any_of(inputs, [&](const Box& box) {
      const FxIds& origins = origin_sets[slot(box.origins)];
      return std::ranges::find(origins, reader) != origins.end();
    });
  };
  BufferIds candidates;
  if (is_realized(inputs[0]))
    candidates.push_back(buffer_of(inputs[0]));
  else
    for (const BodyOp& op : loops_of(storage(inputs[0]).loops).body)
      if (op.buffer >= 0) candidates.push_back(op.buffer);
  for (const BufferId id : candidates) {
    if (!reduces_as_many(id) || !is_common(id)) continue;
    for (const FxId origin : origin_sets[slot(loops_of(buffer(id).loops).origins)]) {
      const FxNode& of = fx_.nodes[slot(origin)];
      if ((of.kind == FxKind::reduce || of.kind == FxKind::mean) &&
          !std::ranges::all_of(of.users, is_joined))
        return -1;
    }
    return id;
  }
  return -1;
}

Box Lowering::pointwise_cat(const Boxes& inputs, std::size_t dim) {
  Sizes sizes = shape(inputs.front());
  Sizes starts{0};
  for (const Box& input : inputs) starts.push_back(starts.back() + shape(input)[dim]);
  sizes[dim] = starts.back();
  Loops made = make_loops(inputs.front(), dtype(inputs.front()), sizes);
  const Positions where = variables(sizes);
  const std::int16_t index = index_value(made, where[dim]);
  std::vector<std::int16_t> masks, values;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::int16_t start =
        i == 0 ? constant(made, 0, DType::int64) : index_value(made, pool.constant(starts[i]));
    const std::int16_t end = index_value(made, pool.constant(starts[i + 1]));
    const std::int16_t after = append(made, "ge", std::array{index, start});
    const std::int16_t before = append(made, "lt", std::array{index, end});
    masks.push_back(i == 0                   ? before
                    : i + 1 == inputs.size() ? after
                                             : append(made, "and_", std::array{after, before}));
    Positions inner = where;
    inner[dim] = pool.add(inner[dim], pool.constant(-starts[i]));
    const std::int16_t value = read(made, inputs[i], std::move(inner));
    values.push_back(append(made, "masked", std::array{masks.back(), value}));
  }
  std::int16_t value = values.back();
  for (std::size_t i = inputs.size() - 1; i-- > 0;)
    value = append(made, "where", std::array{masks[i], values[i], value});
  return box_of(std::move(made));
}

// True if a concatenation has the channels innermost because one of its inputs does.
bool Lowering::is_joined_last(const Boxes& inputs) const {
  bool any_has_layout = false;
  for (const Box& input : inputs) {
    if (!has_layout(input)) continue;
    any_has_layout = true;
    if (!is_flexible(input) && is_channels_last(shape(input), strides(input))) return true;
  }
  const FxNode& of = fx_.nodes[slot(node)];
  if (any_has_layout || of.kind != FxKind::cat) return false;
  return std::ranges::any_of(of.inputs, [this](FxId id) {
    return id >= 0 && is_channels_last(fx_.nodes[slot(id)].result().shape,
                                       fx_.nodes[slot(id)].result().stride);
  });
}

Box Lowering::concatenate(const Boxes& inputs, std::size_t dim) {
  // Each input is computed into its part of the result.
  Sizes sizes = shape(inputs.front());
  sizes[dim] = 0;
  for (const Box& input : inputs) sizes[dim] += shape(input)[dim];
  BufferState whole;
  whole.dtype = dtype(inputs.front());
  whole.is_on_gpu = is_on_gpu(inputs.front());
  whole.stride = padded(dense_strides(sizes), sizes, whole.dtype, whole.is_on_gpu);
  if (is_joined_last(inputs)) whole.stride = channels_last_strides(sizes);
  whole.shape = sizes;
  BufferIds parts;
  std::vector<OpId> copies;  // of inputs of the graph; one foreach kernel makes them all
  for (const Box& input : inputs) {
    Box part = input;
    const auto can_be_placed = [&](const Box& box) {
      if (box.view >= 0) return false;
      realize(box);
      const BufferState& of = buffer(buffer_of(box));
      return of.layout == BufferState::Layout::flexible && !of.allocates_itself;
    };
    if (!can_be_placed(part)) {
      const bool is_of_input = is_realized(input) && buffer(buffer_of(input)).is_input;
      part = clone(input);
      realize(part);
      if (is_of_input && whole.is_on_gpu) copies.push_back(buffer(buffer_of(part)).op);
    }
    parts.push_back(buffer_of(part));
  }
  if (copies.size() > 1) lists.push_back(std::move(copies));
  const BufferId id = add_buffer(whole);
  for (const BufferId each : parts) {
    // Positions in a part count from its first element.
    BufferState& part = buffer(each);
    part.layout = BufferState::Layout::in_other;
    part.target = id;
    part.stride = whole.stride;
    part.aliases.push_back(id);
  }
  OpState op;
  op.kind = Op::Kind::nop;
  op.ir = "ConcatKernel";
  op.outputs = {id};
  op.reads = parts;
  op.call = node;
  op.is_on_gpu = whole.is_on_gpu;
  add_op(std::move(op));
  return box_of_buffer(id);
}

bool Lowering::reads_only_where_it_writes(const Loops& of, BufferId target) {
  if (of.kind != Loops::Kind::pointwise) return false;
  const ExpressionIndex store = flat(target, variables(of.ranges));
  return std::ranges::all_of(
      of.body, [&](const BodyOp& op) { return op.buffer != target || position_of(op) == store; });
}

Boxes Lowering::lower_foreach(const FxNode& of) {
  const auto count = static_cast<std::size_t>(of.numbers[0]);
  const bool is_in_place = of.numbers[1] != 0;
  const bool is_read_by_others = std::ranges::any_of(of.users, [this](FxId selected) {
    return std::ranges::any_of(fx_.nodes[slot(selected)].users, [this](FxId user) {
      return fx_.nodes[slot(user)].kind != FxKind::foreach_;
    });
  });
  const bool makes_kernel =
      of.results.front().is_on_gpu && (of.users.empty() || is_in_place || is_read_by_others);
  std::vector<OpId> list;
  Boxes results;
  BufferIds changed_in_place;
  for (std::size_t i = 0; i < count; ++i) {
    Boxes operands;
    for (std::size_t j = i; j < of.inputs.size(); j += count)
      operands.push_back(argument(of.inputs[j]));
    const DType type = of.results[i].dtype;
    for (Box& operand : operands) operand = to_dtype(operand, type);
    Numbers scalars = of.scalars;
    if (of.scalars.size() == count && count > 1) scalars = {of.scalars[i]};
    Box value = of.op == "clone" ? clone(operands.back())
                                 : pointwise(of.op, std::move(operands), scalars, type);
    if (is_in_place) {
      Box& changed = argument(of.inputs[i]);
      if (is_realized(changed) && has_layout(changed) && value.view < 0 && !is_realized(value) &&
          reads_only_where_it_writes(loops_of(storage(value).loops), buffer_of(changed))) {
        write_to(changed, value);
        changed_in_place.push_back(buffer_of(changed));
        value = changed;
        if (makes_kernel) list.push_back(static_cast<OpId>(ops.size()) - 1);
      } else {
        realize(value);
        if (makes_kernel) list.push_back(buffer(buffer_of(value)).op);
        value = mutate_to(changed, value);
      }
    } else if (makes_kernel) {
      realize(value);
      list.push_back(buffer(buffer_of(value)).op);
    }
    results.push_back(value);
  }
  if (!list.empty()) lists.push_back(std::move(list));
  // All results are computed first. Only then are the tensors marked as changed, which also
  // realizes the readers of their old values.
  for (const BufferId changed : changed_in_place) mark_mutated(changed);
  return results;
}

void Lowering::write_to(const Box& changed, const Box& value) {
  Loops own = loops_of(storage(value).loops);
  own.kind = Loops::Kind::scatter;
  own.store = variables(own.ranges);
  const SetId before = current;
  current = own.origins;
  scatter_into(changed, std::move(own));
  current = before;
  ops.back().ir = "Pointwise";
}

Box Lowering::mutate_to(Box changed, Box value) {
  if (changed.view < 0 && !is_realized(changed)) {
    // Nothing has read the old value as a buffer, so the storage gets the new one.
    if (value.view >= 0) value = clone(value);
    realize(value);
    storages[static_cast<std::size_t>(changed.storage)] = storage(value);
    return changed;
  }
  realize(changed);
  mark_mutated(buffer_of(changed));
  realize_hint(value);
  Loops made = make_loops(value, dtype(value), shape(changed));
  const Positions where = variables(made.ranges);
  read(made, value, where);
  made.kind = Loops::Kind::scatter;
  made.store = where;
  scatter_into(changed, std::move(made));
  ops.back().ir = "Pointwise";
  return changed;
}

void Lowering::scatter_into(const Box& target, Loops made) {
  made.origins = current;
  // The position in the tensor becomes one in its buffer.
  Positions where = made.store;
  std::int32_t id = target.view;
  bool is_flat = false;
  while (id >= 0 && !is_flat) {
    const ViewState& step = views[static_cast<std::size_t>(id)];
    if (step.is_strided) {
      where = {strided_position(step, where)};
      is_flat = true;
    } else {
      where = positions_below(step, where);
      id = step.parent;
    }
  }
  const BufferId changed = buffer_of(target);
  if (!is_flat) {
    decide_layout(changed);
    where = {flat(changed, where)};
  }
  made.store = where;
  BufferState state;
  state.layout = BufferState::Layout::target;
  state.dtype = buffer(changed).dtype;
  state.is_on_gpu = made.is_on_gpu;
  // The buffer that the change defines is as large as the changed tensor, which may be only a part
  // of the old buffer.
  state.shape = shape(target);
  state.stride = has_layout(target) ? strides(target) : dense_strides(state.shape);
  state.target = changed;
  state.mutates = {changed};
  OpState op;
  op.kind = Op::Kind::pointwise;
  op.ir = "Scatter";
  op.origins = made.origins;
  op.is_on_gpu = made.is_on_gpu;
  loops.push_back(std::move(made));
  state.loops = static_cast<std::int32_t>(loops.size()) - 1;
  op.loops = state.loops;
  op.outputs = {add_buffer(std::move(state))};
  buffer(changed).is_mutated = true;
  add_op(std::move(op));
}

}  // namespace jointer::kernels
