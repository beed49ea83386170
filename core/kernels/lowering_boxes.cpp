// Storages, buffers, the rules for when a value becomes a buffer, and loop bodies.
// Source: torch/_inductor/ir.py (StorageBox, Loops, ComputedBuffer), torch/_inductor/ops_handler.py
// (OpCounterCSE).

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "core/kernels/lowering_state.h"
#include "core/kernels/slot.h"

namespace jointer::kernels {
namespace {

// torch/_inductor/config.py
constexpr int kMaxReadsOfReused = 4;     // realize_reads_threshold
constexpr int kMaxReads = 8;             // _realize_acc_reads_threshold_default
constexpr int kMaxReadsOnCpu = 12;       // realize_cpu_acc_reads_threshold
constexpr int kMaxOperations = 30;       // _realize_opcount_threshold_default
constexpr int kMaxOperationsOnCpu = 50;  // realize_cpu_opcount_threshold

bool is_large(const Loops& loops) {
  return loops.operation_count() > (loops.is_on_gpu ? kMaxOperations : kMaxOperationsOnCpu);
}

}  // namespace

int Loops::reads() const {
  return static_cast<int>(
      std::ranges::count_if(body, [](const BodyOp& each) { return each.buffer >= 0; }));
}

int Loops::reads_at_loops() const {
  // Only the position 0 counts as a constant; others hardly occur.
  return static_cast<int>(std::ranges::count_if(body, [](const BodyOp& each) {
    if (each.buffer < 0) return false;
    if (each.dims.empty()) return each.at > IndexPool::kZero;
    return std::ranges::any_of(each.dims, [](ExpressionIndex e) { return e != IndexPool::kZero; });
  }));
}

SetId Lowering::union_of(SetId a, SetId b) {
  if (a == b || b == 0) return a;
  if (a == 0) return b;
  const FxIds &first = origin_sets[slot(a)], &second = origin_sets[slot(b)];
  if (std::ranges::includes(first, second)) return a;
  if (std::ranges::includes(second, first)) return b;
  FxIds both;
  both.reserve(first.size() + second.size());
  std::ranges::set_union(first, second, std::back_inserter(both));
  origin_sets.push_back(std::move(both));
  return static_cast<SetId>(origin_sets.size()) - 1;
}

void Lowering::add_gathered_origins(const Box& box) {
  // A buffer that is read without a view adds no origins.
  if (box.storage < 0 || (box.view < 0 && is_realized(box))) return;
  current = union_of(current, box.origins);
}

Box Lowering::box_of(Loops made) {
  made.origins = current;
  loops.push_back(std::move(made));
  storages.push_back(
      {.loops = static_cast<std::int32_t>(loops.size()) - 1, .buffer = -1, .value_of = -1});
  return {
      .storage = static_cast<std::int32_t>(storages.size()) - 1, .view = -1, .origins = current};
}

Box Lowering::box_of_buffer(BufferId id) {
  storages.push_back({.loops = -1, .buffer = id, .value_of = -1});
  return {
      .storage = static_cast<std::int32_t>(storages.size()) - 1, .view = -1, .origins = current};
}

const Sizes& Lowering::shape(const Box& box) const {
  if (box.view >= 0) return view(box).shape;
  const StorageState& state = storage(box);
  if (state.buffer >= 0) return buffer(state.buffer).shape;
  return loops_of(state.loops).ranges;
}

DType Lowering::dtype(const Box& box) const {
  if (box.view >= 0) return view(box).dtype;
  const StorageState& state = storage(box);
  return state.buffer >= 0 ? buffer(state.buffer).dtype : loops_of(state.loops).dtype;
}

bool Lowering::is_on_gpu(const Box& box) const {
  const StorageState& state = storage(box);
  return state.buffer >= 0 ? buffer(state.buffer).is_on_gpu : loops_of(state.loops).is_on_gpu;
}

BufferId Lowering::add_buffer(BufferState made) {
  buffers.push_back(std::move(made));
  return static_cast<BufferId>(buffers.size()) - 1;
}

OpId Lowering::add_op(OpState made) {
  const auto id = static_cast<OpId>(ops.size());
  for (const BufferId output : made.outputs) buffer(output).op = id;
  if (made.loops < 0 && node >= 0) is_call[slot(node)] = true;
  ops.push_back(std::move(made));
  return id;
}

void Lowering::realize(const Box& box) {
  StorageState& state = storages[slot(box.storage)];
  if (state.buffer >= 0) return;
  const Loops& of = loops_of(state.loops);
  Sizes sizes = of.ranges;
  if (of.keeps_axis()) sizes.insert(sizes.begin() + of.axis, of.reduced.front());
  BufferState made;
  made.layout = BufferState::Layout::flexible;
  made.dtype = of.dtype;
  made.is_on_gpu = of.is_on_gpu;
  made.stride = dense_strides(sizes);
  made.shape = std::move(sizes);
  made.loops = state.loops;
  state.buffer = add_buffer(std::move(made));
  OpState op;
  op.kind = of.kind == Loops::Kind::scan   ? Op::Kind::scan
            : of.kind == Loops::Kind::sort ? Op::Kind::sort
            : of.is_reduction()            ? Op::Kind::reduction
                                           : Op::Kind::pointwise;
  op.loops = state.loops;
  op.outputs = {state.buffer};
  op.origins = of.origins;
  op.is_on_gpu = of.is_on_gpu;
  add_op(std::move(op));
}

void Lowering::realize_hint(const Box& box) {
  const StorageState& state = storage(box);
  if (state.buffer < 0 && loops_of(state.loops).reads_at_loops() > 1) realize(box);
}

bool Lowering::should_realize_on_reuse(const Box& box, std::int64_t users, bool is_fanout) const {
  const StorageState& state = storage(box);
  if (users <= 1 || state.buffer >= 0) return false;
  const Loops& of = loops_of(state.loops);
  if (!of.is_on_gpu) {
    constexpr std::array<std::string_view, 7> kHeavy{"exp",  "log",     "log10", "log1p",
                                                     "log2", "sigmoid", "tanh"};
    if (std::ranges::any_of(of.body, [&](const BodyOp& op) {
          return std::ranges::find(kHeavy, op.op) != kHeavy.end();
        }))
      return true;
  }
  return is_large(of) || (is_fanout && of.reads() > kMaxReadsOfReused);
}

void Lowering::mark_reuse(const Box& box, std::int64_t users, bool is_fanout) {
  if (should_realize_on_reuse(box, users, is_fanout)) realize(box);
}

bool Lowering::has_exceeded_reads(const Box& box) const {
  const StorageState& state = storage(box);
  if (state.buffer >= 0) return false;
  const Loops& of = loops_of(state.loops);
  if (of.kind != Loops::Kind::pointwise && of.kind != Loops::Kind::scatter) return false;
  return of.reads() > (of.is_on_gpu ? kMaxReads : kMaxReadsOnCpu) || is_large(of);
}

void Lowering::mark_mutated(BufferId id) {
  buffer(id).is_mutated = true;
  // Values that read the buffer and are not computed yet must be computed before it changes.
  const auto readers = buffer(id).readers;
  for (const std::int32_t reader : readers) realize({.storage = reader, .view = -1, .origins = 0});
}

void Lowering::note_readers(const Box& box) {
  if (box.storage < 0 || is_realized(box)) return;
  for (const BodyOp& op : loops_of(storage(box).loops).body)
    if (op.buffer >= 0) {
      auto& readers = buffer(op.buffer).readers;
      if (readers.empty() || readers.back() != box.storage) readers.push_back(box.storage);
    }
}

// --- Bodies ---

std::int16_t Lowering::append(Loops& into, BodyOp op) {
  for (std::size_t i = into.body.size(); i-- > 0;)
    if (into.body[i] == op) {
      const auto sum = [](int first, int second) {
        constexpr int kMany = 1000;
        return static_cast<std::int16_t>(std::min(first + second, kMany));
      };
      into.body[i].times = sum(into.body[i].times, op.times);
      into.body[i].lookups = sum(into.body[i].lookups, op.lookups);
      return static_cast<std::int16_t>(i);
    }
  into.body.push_back(std::move(op));
  return static_cast<std::int16_t>(into.body.size() - 1);
}

std::int16_t Lowering::append(Loops& into, std::string_view op,
                              std::span<const std::int16_t> operands, double number) {
  BodyOp made;
  made.op = op;
  made.number = number;
  for (std::size_t i = 0; i < operands.size() && i < std::size(made.operands); ++i)
    made.operands[i] = operands[i];
  return append(into, std::move(made));
}

std::int16_t Lowering::constant(Loops& into, double number, DType type, bool is_real) {
  BodyOp made;
  made.op = "constant";
  made.number = number;
  made.type = type;
  made.is_real = is_real && std::isfinite(number) && number == std::floor(number);
  return append(into, std::move(made));
}

std::int16_t Lowering::index_value(Loops& into, ExpressionIndex value) {
  BodyOp made;
  made.op = "index_expr";
  made.at = value;
  return append(into, std::move(made));
}

Positions Lowering::variables(const Sizes& ranges, int first) {
  Positions result;
  result.reserve(ranges.size());
  for (std::size_t i = 0; i < ranges.size(); ++i)
    result.push_back(pool.loop(first + static_cast<int>(i), ranges[i]));
  return result;
}

Positions Lowering::go_along(Loops& made, std::int64_t axis) {
  const std::int64_t size = made.ranges[static_cast<std::size_t>(axis)];
  made.axis = axis;
  made.ranges.erase(made.ranges.begin() + axis);
  made.reduced = {size};
  Positions where = variables(made.ranges);
  where.insert(where.begin() + axis, pool.loop(static_cast<int>(made.ranges.size()), size));
  return where;
}

// Source: torch/_inductor/index_propagation.py.
ExpressionIndex Lowering::known_index(const Loops& body, std::int16_t value) {
  const BodyOp& op = body.body[static_cast<std::size_t>(value)];
  if (op.op == "index_expr") return op.at;
  if (op.op == "constant")
    return op.number == std::floor(op.number) ? pool.constant(static_cast<std::int64_t>(op.number))
                                              : -1;
  if (op.operands[0] < 0) return -1;
  const ExpressionIndex left = known_index(body, op.operands[0]);
  if (left < 0) return -1;
  if (op.op == "to_dtype") return is_floating(static_cast<DType>(op.number)) ? -1 : left;
  if (op.operands[1] < 0 || op.operands[2] >= 0) return -1;
  const ExpressionIndex right = known_index(body, op.operands[1]);
  if (right < 0) return -1;
  if (op.op == "add") return pool.add(left, right);
  if (op.op == "sub") return pool.add(left, pool.multiply(right, -1));
  if (!pool.is_constant(right)) return -1;
  const std::int64_t factor = pool.stride(right, -1);
  if (op.op == "mul") return pool.multiply(left, factor);
  if (factor <= 0) return -1;
  if (op.op == "remainder") return pool.modular(left, 1, factor);
  if (op.op == "floordiv") return pool.divide(left, factor);
  return -1;
}

ExpressionIndex Lowering::indirect(const Loops& body, std::int16_t value, std::int64_t size) {
  if (const ExpressionIndex known = known_index(body, value); known >= 0) return known;
  // Identifies the value by the first load it depends on and the number of operations after it.
  const auto first_load = [&body](const auto& self, std::int16_t from) -> std::int16_t {
    const BodyOp& op = body.body[static_cast<std::size_t>(from)];
    if (op.buffer >= 0) return from;
    for (const std::int16_t operand : op.operands)
      if (operand >= 0)
        if (const std::int16_t found = self(self, operand); found >= 0) return found;
    return -1;
  };
  const std::int16_t source = first_load(first_load, value);
  if (source < 0) return pool.loaded(IndexPool::kZero, -1 - value, size);
  const BodyOp& load = body.body[static_cast<std::size_t>(source)];
  ExpressionIndex place = load.at;
  if (!load.dims.empty()) {
    place = IndexPool::kZero;
    const Sizes stride = dense_strides(buffer(load.buffer).shape);
    for (std::size_t i = 0; i < load.dims.size(); ++i)
      place = pool.add(place, pool.multiply(load.dims[i], stride[i]));
  }
  constexpr std::int64_t kPerBuffer = 4096;
  return pool.loaded(place, load.buffer * kPerBuffer + (value - source), size);
}

bool Lowering::has_loaded(const BodyOp& op) const {
  return (op.at >= 0 && pool.has_loaded(op.at)) ||
         std::ranges::any_of(op.dims, [this](ExpressionIndex at) { return pool.has_loaded(at); });
}

std::int16_t Lowering::copy_body(Loops& into, const Loops& from, const Positions& where) {
  SmallVector<std::int16_t, 32> moved(from.body.size(), -1);
  into.body.reserve(into.body.size() + from.body.size() + 2);
  bool is_identity = where.size() <= from.ranges.size() + from.reduced.size();
  for (std::size_t i = 0; i < where.size() && is_identity; ++i) {
    const std::int64_t size =
        i < from.ranges.size() ? from.ranges[i] : from.reduced[i - from.ranges.size()];
    is_identity = where[i] == pool.loop(static_cast<int>(i), size);
  }
  for (std::size_t i = 0; i < from.body.size(); ++i) {
    BodyOp op = from.body[i];
    for (std::int16_t& operand : op.operands)
      if (operand >= 0) operand = moved[static_cast<std::size_t>(operand)];
    if (!is_identity) {
      if (!has_loaded(op)) op.lookups = 1;  // those of the new position, if it has any
      if (op.at > IndexPool::kZero) op.at = pool.substitute(op.at, where);
      for (ExpressionIndex& each : op.dims) each = pool.substitute(each, where);
    }
    // If the strides of the buffer were decided in the meantime, the load equals new loads from it.
    if (!op.dims.empty() && buffer(op.buffer).layout != BufferState::Layout::flexible) {
      op.at = position_of(op);
      op.dims.clear();
    }
    moved[i] = append(into, std::move(op));
  }
  return moved.empty() ? constant(into, 0) : moved.back();
}

Positions Lowering::positions_below(const ViewState& step, const Positions& at) {
  Positions below;
  below.reserve(step.at.size());
  for (const ExpressionIndex each : step.at) below.push_back(pool.substitute(each, at));
  return below;
}

ExpressionIndex Lowering::strided_position(const ViewState& step, const Positions& at) {
  ExpressionIndex position = pool.constant(step.offset);
  for (std::size_t i = 0; i < step.shape.size(); ++i)
    if (step.shape[i] != 1) position = pool.add(position, pool.multiply(at[i], step.stride[i]));
  return position;
}

std::int16_t Lowering::read(Loops& into, const Box& from, Positions where) {
  DType stored = dtype(from);
  for (std::int32_t id = from.view; id >= 0;) {
    const ViewState& step = views[slot(id)];
    if (step.is_strided) {
      BodyOp load;
      load.op = "load";
      load.buffer = buffer_of(from);
      load.at = strided_position(step, where);
      stored = buffer(load.buffer).dtype;
      const std::int16_t value = append(into, std::move(load));
      return stored == step.dtype ? value : append(into, "to_dtype_bitcast", std::array{value});
    }
    where = positions_below(step, where);
    id = step.parent;
  }
  const StorageState state = storage(from);
  if (state.buffer < 0) {
    const Loops& source = loops_of(state.loops);
    return copy_body(into, source, where);
  }
  const BufferState& source = buffer(state.buffer);
  if (source.loops >= 0 && !source.is_mutated && !loops_of(source.loops).is_reduction() &&
      loops_of(source.loops).kind != Loops::Kind::scatter && loops_of(source.loops).reads() == 0 &&
      product(loops_of(source.loops).ranges) == product(source.shape)) {
    return copy_body(into, loops_of(source.loops), where);
  }
  BodyOp load;
  load.op = "load";
  load.buffer = state.buffer;
  if (source.layout == BufferState::Layout::flexible && !where.empty())
    load.dims = std::move(where);
  else
    load.at = flat(state.buffer, where);
  return append(into, std::move(load));
}

Loops Lowering::make_loops(const Box& like, DType type, Sizes ranges) const {
  Loops made;
  made.dtype = type;
  made.is_on_gpu = is_on_gpu(like);
  made.ranges = std::move(ranges);
  return made;
}

ExpressionIndex Lowering::flat(BufferId id, const Positions& dims) {
  const BufferState& of = buffer(id);
  ExpressionIndex result = IndexPool::kZero;
  for (std::size_t i = 0; i < dims.size() && i < of.stride.size(); ++i)
    if (of.shape[i] != 1) result = pool.add(result, pool.multiply(dims[i], of.stride[i]));
  return result;
}

ExpressionIndex Lowering::position_of(const BodyOp& load) {
  return load.dims.empty() ? load.at : flat(load.buffer, load.dims);
}

}  // namespace jointer::kernels
