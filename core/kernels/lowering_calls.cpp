// External kernels, which call ATen and library operators, and collectives.
// Source: torch/_inductor/ir.py (ExternKernel, FallbackKernel, MultiOutput, _CollectiveKernel,
// _WaitKernel), torch/_inductor/comm_lowering.py, torch/_inductor/kernel/mm.py, mm_common.py,
// torch/_inductor/lowering.py (constrain_to_fx_strides, sdpa_constraint, make_fallback).

#include <algorithm>

#include "core/kernels/lowering_state.h"
#include "core/kernels/slot.h"

namespace jointer::kernels {
namespace {

using Layout = BufferState::Layout;

// Inductor's class of collectives whose result is a different tensor from their input.
constexpr std::string_view kCollectiveIr = "_CollectiveKernel";

}  // namespace

BufferState Lowering::result_buffer(const FxTensor& tensor) const {
  BufferState made;
  made.dtype = tensor.dtype;
  made.is_on_gpu = tensor.is_on_gpu;
  made.shape = tensor.shape;
  made.stride = tensor.stride;
  return made;
}

Box Lowering::constrained_for_attention(Box& box, const FxTensor& meta) {
  const Sizes sizes = shape(box);
  if (meta.is_on_gpu && sizes.size() != 3 && sizes.size() != 4) return box;
  Sizes order = stride_order(meta.stride);
  if (!order.empty() && order.back() != 0)
    for (std::size_t i = 0; i < order.size(); ++i)
      order[i] = static_cast<std::int64_t>(order.size() - 1 - i);
  if (!meta.is_on_gpu) return require_order(box, order);
  constexpr std::int64_t kAligned = 8;
  const auto is_aligned = [&](const Box& each) {
    if (!has_layout(each)) return false;
    const Sizes own = strides(each);
    for (std::size_t i = 0; i + 1 < own.size(); ++i)
      if (own[i] % kAligned != 0) return false;
    return own.back() == 1 || shape(each).back() <= 1;
  };
  if (is_aligned(box)) return match_small_dimensions(realize_input(box), meta.stride);
  return require_order(box, order);
}

Boxes Lowering::constrained(const FxNode& of) {
  Boxes result;
  for (const FxId id : of.inputs) {
    if (id < 0 || env[slot(id)].empty()) continue;
    Box& box = argument(id);
    const FxTensor& meta = fx_.nodes[slot(id)].result();
    switch (of.constraint) {
      case Constraint::none:
        result.push_back(box);
        break;
      case Constraint::contiguous:
        result.push_back(require_contiguous(box));
        break;
      case Constraint::order:
        result.push_back(require_order(box, stride_order(meta.stride)));
        break;
      case Constraint::exact:
        result.push_back(require_exact(box, meta.stride));
        break;
      case Constraint::attention:
        result.push_back(constrained_for_attention(box, meta));
        break;
      case Constraint::dense: {
        const bool is_dense =
            has_layout(box) && (strides(box).empty() || std::ranges::count(strides(box), 1) > 0);
        result.push_back(is_dense ? box : copy_input(box));
        break;
      }
    }
  }
  return result;
}

BufferIds Lowering::call_inputs(Boxes& inputs) {
  BufferIds result;
  for (Box& box : inputs) box = realize_input(box);
  for (const Box& box : inputs) {
    if (box.view < 0) decide_layout(buffer_of(box));
    result.push_back(buffer_of(box));
  }
  return result;
}

OpState Lowering::call_op(Op::Kind kind, std::string_view ir, std::string_view target) const {
  OpState op;
  op.kind = kind;
  op.ir = ir;
  op.target = target;
  op.call = node;
  return op;
}

OpState Lowering::communication_op(Op::Kind kind, std::string_view ir, std::string_view target,
                                   BufferIds reads) const {
  OpState op = call_op(kind, ir, target);
  op.reads = std::move(reads);
  op.has_side_effects = true;
  return op;
}

Box Lowering::add_call(OpState op, BufferState result) {
  op.is_on_gpu = result.is_on_gpu;
  const BufferId id = add_buffer(std::move(result));
  op.outputs = {id};
  add_op(std::move(op));
  return box_of_buffer(id);
}

BufferId Lowering::add_mutation(OpState& op, BufferId mutated) {
  BufferState made;
  made.layout = Layout::none;
  made.dtype = buffer(mutated).dtype;
  made.mutates = {mutated};
  made.target = mutated;
  op.outputs.push_back(add_buffer(std::move(made)));
  return op.outputs.back();
}

Box Lowering::lower_matmul(const FxNode& of) {
  Boxes inputs = constrained(of);
  const auto realized = [this](Box& box) {
    const Box result = realize_input(box);
    // BLAS needs a dimension with the stride 1.
    const Sizes own = strides(result);
    return buffer_of(!own.empty() && std::ranges::count(own, 1) == 0 ? copy_input(result) : result);
  };
  BufferIds reads(inputs.size());
  // The factors of a product are computed before the addend: `mm_args` in
  // torch/_inductor/kernel/mm_common.py.
  const std::size_t added = of.is_product_and_sum() && !inputs.empty() ? 1 : 0;
  for (std::size_t i = added; i < inputs.size(); ++i) reads[i] = realized(inputs[i]);
  if (added > 0) {
    inputs[0] = expand(inputs[0], of.result().shape);
    reads[0] = realized(inputs[0]);
  }
  BufferState made = result_buffer(of.result());
  made.stride = dense_strides(made.shape);
  const bool is_alloc = of.kind == FxKind::alloc_call;
  made.layout = is_alloc ? Layout::fixed : Layout::flexible;
  made.allocates_itself = is_alloc;
  OpState op =
      call_op(Op::Kind::extern_, is_alloc ? "ExternKernelAlloc" : "ExternKernelOut", of.target);
  op.reads = std::move(reads);
  return add_call(std::move(op), std::move(made));
}

Boxes Lowering::lower_fallback(const FxNode& of) {
  return call_library(of, constrained(of));
}

Boxes Lowering::call_library(const FxNode& of, Boxes inputs) {
  const bool is_collective = of.kind == FxKind::collective;
  OpState op = call_op(is_collective ? Op::Kind::collective
                       : of.is_view  ? Op::Kind::view
                                     : Op::Kind::extern_,
                       is_collective ? kCollectiveIr : "FallbackKernel", of.target);
  op.reads = call_inputs(inputs);
  op.is_on_gpu = std::ranges::any_of(of.results, &FxTensor::is_on_gpu) ||
                 std::ranges::any_of(inputs, [this](const Box& box) { return is_on_gpu(box); });
  op.has_side_effects = of.has_side_effects;
  const bool is_direct = !of.is_tuple && !of.results.empty() && is_new_torch();
  BufferState packed = is_direct ? result_buffer(of.result()) : BufferState{};
  packed.allocates_itself = true;
  packed.is_on_gpu = op.is_on_gpu;
  if (!is_direct) packed.layout = of.results.empty() ? Layout::none : Layout::many;
  if (of.is_view && !op.reads.empty()) packed.aliases = {op.reads.front()};
  const BufferId id = add_buffer(std::move(packed));
  op.outputs = {id};
  for (std::size_t i = 0; i < of.written.size() && i < op.reads.size(); ++i)
    if (of.written[i]) {
      const BufferId changed = op.reads[i];
      add_mutation(op, changed);
      mark_mutated(changed);
    }
  const bool is_on_device = op.is_on_gpu;
  add_op(std::move(op));
  if (is_direct) return {box_of_buffer(id)};
  Boxes results;
  for (const FxTensor& tensor : of.results) {
    BufferState made = result_buffer(tensor);
    made.allocates_itself = true;
    if (!buffer(id).aliases.empty()) made.aliases = {id};
    const BufferId part = add_buffer(std::move(made));
    OpState selection = call_op(Op::Kind::multi_output, "MultiOutput", of.target);
    selection.reads = {id};
    selection.outputs = {part};
    selection.is_on_gpu = is_on_device;
    add_op(std::move(selection));
    results.push_back(box_of_buffer(part));
  }
  return results;
}

bool Lowering::lacks_atomic_addition(DType type) {
  return type == DType::int64 || type == DType::boolean;
}

void Lowering::call_in_place(std::string_view ir, std::string_view target, Boxes inputs) {
  OpState op = call_op(Op::Kind::extern_, ir, target);
  op.reads = call_inputs(inputs);
  op.is_on_gpu = is_on_gpu(inputs.front());
  const BufferId changed = op.reads.front();
  mark_mutated(changed);
  add_mutation(op, changed);
  add_op(std::move(op));
}

Box Lowering::lower_collective(const FxNode& of) {
  Boxes inputs = constrained(of);
  BufferState made = result_buffer(of.result());
  made.allocates_itself = true;
  return add_call(
      communication_op(Op::Kind::collective, kCollectiveIr, of.target, call_inputs(inputs)),
      std::move(made));
}

Box Lowering::lower_all_reduce(const FxNode& of, bool is_in_place) {
  Box input = constrained(of).front();
  if (!is_in_place) input = clone(input);
  input = require_contiguous(input);
  input = realize_input(input);
  const BufferId changed = buffer_of(input);
  if (input.view < 0) decide_layout(changed);
  mark_mutated(changed);
  OpState op = communication_op(Op::Kind::collective, "_AllReduce_Kernel",
                                "_c10d_functional.all_reduce_.default", {changed});
  op.is_on_gpu = buffer(changed).is_on_gpu;
  BufferState made;
  made.layout = Layout::none;
  made.aliases = {changed};
  op.outputs = {add_buffer(std::move(made))};
  add_mutation(op, changed);
  add_op(std::move(op));
  return input;
}

Box Lowering::lower_wait(const FxNode& of) {
  Box input = constrained(of).front();
  Boxes inputs{input};
  OpState op = communication_op(Op::Kind::wait, "_WaitKernel", of.target, call_inputs(inputs));
  const BufferId changed = op.reads.front();
  op.is_on_gpu = buffer(changed).is_on_gpu;
  // The wait also reads the collective's input, which must not change until then.
  if (const OpId source = buffer(changed).op; source >= 0) {
    const OpState* start = &ops[slot(source)];
    std::size_t which = 0;
    if (start->kind == Op::Kind::multi_output) {
      const OpState& call = ops[slot(buffer(start->reads.front()).op)];
      which = static_cast<std::size_t>(changed - call.outputs.front() - 1);
      start = &call;
    }
    if (start->kind == Op::Kind::collective && start->ir == kCollectiveIr &&
        which < start->reads.size())
      op.reads.push_back(start->reads[which]);
  }
  BufferState made;
  made.layout = Layout::none;
  op.outputs = {add_buffer(std::move(made))};
  add_mutation(op, changed);
  add_op(std::move(op));
  mark_mutated(changed);
  return inputs.front();
}

Box Lowering::lower_device_copy(const FxNode& of) {
  Box& input = argument(of.inputs[0]);
  const bool is_constant = !is_realized(input) && loops_of(storage(input).loops).reads() == 0;
  if (is_constant) {
    Loops made = make_loops(input, dtype(input), shape(input));
    read(made, input, variables(made.ranges));
    made.is_on_gpu = of.result().is_on_gpu;
    return box_of(std::move(made));
  }
  Box dense = require_contiguous(input);
  dense = realize_input(dense);
  BufferState made = result_buffer(of.result());
  made.dtype = dtype(dense);
  OpState op = call_op(Op::Kind::extern_, "DeviceCopy", of.target);
  op.reads = {buffer_of(dense)};
  return add_call(std::move(op), std::move(made));
}

}  // namespace jointer::kernels
