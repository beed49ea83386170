// Strides of buffers: when they are decided, and what calls demand of them.
// Source: torch/_inductor/ir.py (Layout, FlexibleLayout, Buffer.freeze_layout*,
// ExternKernel.require_strides, realize_input, convert_to_reinterpret_view),
// torch/_inductor/config.py (comprehensive_padding).

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/kernels/channels_last.h"
#include "core/kernels/lowering_state.h"
#include "core/kernels/python_sort.h"
#include "core/kernels/slot.h"

namespace jointer::kernels {
namespace {

using Layout = BufferState::Layout;

constexpr std::int64_t kPaddedBytes = 128;   // padding_alignment_bytes
constexpr std::int64_t kPaddingFrom = 1024;  // padding_stride_threshold, in elements

bool same_where_it_matters(const Sizes& a, const Sizes& b, const Sizes& sizes) {
  for (const std::int64_t size : sizes)
    if (size == 0) return true;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i] > 1 && a[i] != b[i]) return false;
  return true;
}

}  // namespace

Lowering::Order Lowering::pick_order(std::span<const std::int64_t> strides, const Sizes& sizes) {
  const auto before = [&](std::size_t a, std::size_t b) {
    if (sizes[a] == 1 || sizes[b] == 1)
      return static_cast<int>(sizes[a] == 1) - static_cast<int>(sizes[b] == 1);
    std::int64_t a_first = 0, b_first = 0;
    for (std::size_t at = 0; at < strides.size(); at += sizes.size()) {
      const std::int64_t in_a = std::abs(strides[at + a]), in_b = std::abs(strides[at + b]);
      a_first += in_b == 0 || in_a < in_b ? 1 : 0;
      b_first += in_a == 0 || in_b < in_a ? 1 : 0;
    }
    if (a_first != b_first) return a_first > b_first ? -1 : 1;
    return b > a ? 1 : b < a ? -1 : 0;
  };
  Order order(sizes.size());
  std::iota(order.rbegin(), order.rend(), std::size_t{0});
  // Torch sorts with list.sort. Accesses that disagree may prefer loops in a cycle, and then the
  // result depends on which loops the algorithm compares.
  python_sort(order, [&](std::size_t a, std::size_t b) { return before(a, b) < 0; });
  return order;
}

bool Lowering::has_layout(const Box& box) const {
  return box.view >= 0 ? view(box).is_strided : is_realized(box);
}

Sizes Lowering::strides(const Box& box) const {
  if (box.view >= 0) return view(box).stride;
  const BufferState& of = buffer(buffer_of(box));
  return of.layout == Layout::target ? buffer(of.target).stride : of.stride;
}

std::int64_t Lowering::offset(const Box& box) const {
  return box.view >= 0 ? view(box).offset : 0;
}

bool Lowering::is_flexible(const Box& box) const {
  return box.view < 0 && is_realized(box) && buffer(buffer_of(box)).layout == Layout::flexible;
}

Sizes Lowering::padded(const Sizes& stride, const Sizes& sizes, DType type, bool is_gpu) const {
  if (!is_gpu || stride.empty() || is_channels_last(sizes, stride)) return stride;
  if (!without_padding.empty() && node >= 0 && without_padding[slot(node)]) return stride;
  const std::int64_t unit = kPaddedBytes / item_size(type);
  const Order order = fill_order(stride);
  Sizes result(stride.size(), 0);
  result[order[0]] = 1;
  bool is_padded = false;
  for (std::size_t i = 1; i < order.size(); ++i) {
    std::int64_t step = result[order[i - 1]] * sizes[order[i - 1]];
    if (step > kPaddingFrom && step % unit != 0) {
      step = (step + unit - 1) / unit * unit;
      is_padded = true;
    }
    result[order[i]] = step;
  }
  return is_padded ? result : stride;
}

void Lowering::freeze(BufferId id) {
  BufferState& of = buffer(id);
  if (of.layout != Layout::flexible) return;
  of.stride = padded(of.stride, of.shape, of.dtype, of.is_on_gpu);
  of.layout = Layout::fixed;
}

Sizes Lowering::stride_order(const Sizes& stride) {
  Sizes result(stride.size(), 0);
  const Order order = fill_order(stride);
  for (std::size_t i = 0; i < order.size(); ++i) result[order[i]] = static_cast<std::int64_t>(i);
  return result;
}

bool Lowering::is_ordered(const Sizes& sizes, const Sizes& stride, const Sizes& order) {
  Order dims;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i] != 1) dims.push_back(i);
  std::ranges::sort(dims, [&](std::size_t a, std::size_t b) { return order[a] < order[b]; });
  for (std::size_t i = 1; i < dims.size(); ++i)
    if (stride[dims[i - 1]] > stride[dims[i]]) return false;
  return true;
}

void Lowering::freeze_in_order(BufferId id, const Sizes& order, bool may_pad) {
  BufferState& of = buffer(id);
  Order dims(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) dims[static_cast<std::size_t>(order[i])] = i;
  of.stride = filled_strides(of.shape, dims);
  if (may_pad) of.stride = padded(of.stride, of.shape, of.dtype, of.is_on_gpu);
  of.layout = Layout::fixed;
}

void Lowering::freeze_exactly(BufferId id, const Sizes& stride, bool may_pad) {
  BufferState& of = buffer(id);
  of.stride = may_pad ? padded(stride, of.shape, of.dtype, of.is_on_gpu) : stride;
  of.layout = Layout::fixed;
}

void Lowering::decide_layout(BufferId id) {
  if (buffer(id).layout != Layout::flexible) return;
  if (buffer(id).loops < 0) return freeze(id);
  const Loops& of = loops_of(buffer(id).loops);
  // The order follows the strides with which the loops read other buffers. As in torch's set of
  // reads, equal reads count once: the loops may have read a buffer both before and after its
  // strides were decided.
  SmallVector<std::int64_t, 32> read_strides;
  SmallVector<std::pair<BufferId, ExpressionIndex>, 16> reads;
  const auto first_reduced = static_cast<int>(of.ranges.size());
  for (const BodyOp& op : of.body) {
    if (op.buffer < 0) continue;
    const ExpressionIndex position = position_of(op);
    const std::pair read(op.buffer, position);
    if (std::ranges::find(reads, read) != reads.end()) continue;
    reads.push_back(read);
    std::size_t outer = 0;
    for (std::size_t i = 0; i < buffer(id).shape.size(); ++i) {
      const bool is_scanned = of.keeps_axis() && static_cast<std::int64_t>(i) == of.axis;
      read_strides.push_back(
          pool.stride(position, is_scanned ? first_reduced : static_cast<int>(outer)));
      if (!is_scanned) ++outer;
    }
  }
  if (read_strides.empty() || buffer(id).shape.empty()) return freeze(id);
  BufferState& decided = buffer(id);
  decided.stride = filled_strides(decided.shape, pick_order(read_strides, decided.shape));
  decided.stride = padded(decided.stride, decided.shape, decided.dtype, decided.is_on_gpu);
  decided.layout = Layout::fixed;
}

bool Lowering::to_strided_view(Box& box) {
  // A view has strides if its positions in the buffer are linear in its own loops.
  if (buffer(buffer_of(box)).layout == Layout::flexible) freeze(buffer_of(box));
  const ViewState of = view(box);
  Positions where = variables(of.shape);
  bool is_flat = false;
  for (std::int32_t id = box.view; id >= 0;) {
    const ViewState& step = views[slot(id)];
    where = positions_below(step, where);
    id = step.parent;
    if (id >= 0 && views[slot(id)].is_strided) {
      where = {strided_position(views[slot(id)], where)};
      is_flat = true;
      break;
    }
  }
  const ExpressionIndex position = is_flat ? where[0] : flat(buffer_of(box), where);
  Sizes stride(of.shape.size(), 0);
  ExpressionIndex expected = pool.constant(pool.stride(position, -1));
  for (std::size_t i = 0; i < of.shape.size(); ++i) {
    if (of.shape[i] != 1) stride[i] = pool.stride(position, static_cast<int>(i));
    expected =
        pool.add(expected, pool.multiply(pool.loop(static_cast<int>(i), of.shape[i]), stride[i]));
  }
  if (expected != position) return false;
  ViewState made;
  made.is_strided = true;
  made.dtype = of.dtype;
  made.shape = of.shape;
  made.stride = std::move(stride);
  made.offset = pool.stride(position, -1);
  views.push_back(std::move(made));
  box.view = static_cast<std::int32_t>(views.size()) - 1;
  return true;
}

Box Lowering::copy_input(const Box& box) {
  const Box copy = clone(box);
  realize(copy);
  return copy;
}

Box Lowering::realize_input(Box& box) {
  if (box.view < 0) {
    realize(box);
    return box;
  }
  realize(box);
  if (view(box).is_strided) return box;
  Box strided = box;
  if (to_strided_view(strided)) return strided;
  return copy_input(box);
}

Box Lowering::match_small_dimensions(const Box& box, const Sizes& stride) {
  if (!has_layout(box)) return box;
  const Sizes own = strides(box), sizes = shape(box);
  if (own == stride || own.size() != stride.size() || !same_where_it_matters(stride, own, sizes))
    return box;
  if (box.view < 0) decide_layout(buffer_of(box));
  Sizes made = strides(box);
  const bool is_empty = product(sizes) == 0;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (is_empty || sizes[i] <= 1) made[i] = stride[i];
  return strided_view(box, sizes, std::move(made), offset(box));
}

Box Lowering::require_strides(Box& box, const Sizes* order, const Sizes* exact, bool may_pad) {
  const Sizes sizes = shape(box);
  if (product(sizes) <= 1 && exact == nullptr) return box;
  if (has_layout(box)) {
    if (is_flexible(box)) {
      const BufferId id = buffer_of(box);
      if (order != nullptr) {
        if (is_ordered(sizes, buffer(id).stride, *order))
          freeze(id);
        else
          freeze_in_order(id, *order, may_pad);
      } else {
        freeze_exactly(id, *exact, may_pad);
      }
      return box;
    }
    const Sizes own = strides(box);
    if (order != nullptr && is_ordered(sizes, own, *order)) return box;
    if (exact != nullptr && same_where_it_matters(*exact, own, sizes))
      return match_small_dimensions(box, *exact);
    if (exact != nullptr && may_pad) {
      const Sizes wide = padded(*exact, sizes, dtype(box), is_on_gpu(box));
      if (same_where_it_matters(wide, own, sizes)) return match_small_dimensions(box, wide);
    }
  }
  if (box.view >= 0 && !view(box).is_strided && is_realized(box) &&
      !buffer(buffer_of(box)).allocates_itself && to_strided_view(box))
    return require_strides(box, order, exact, may_pad);
  // A dimension that repeats one element is not copied: the copy is expanded.
  Box source = box;
  std::vector<std::size_t> repeated;
  if (exact != nullptr)
    for (std::size_t i = 0; i < sizes.size(); ++i)
      if ((*exact)[i] == 0 && sizes[i] >= 2) {
        repeated.push_back(i);
        source = slice(source, i, 0, 1, 1);
      }
  const Box copy = copy_input(source);
  if (order != nullptr)
    freeze_in_order(buffer_of(copy), *order, may_pad);
  else
    freeze_exactly(buffer_of(copy), *exact, may_pad);
  if (repeated.empty()) return copy;
  return match_small_dimensions(expand(copy, sizes), *exact);
}

Box Lowering::require_order(Box& box, const Sizes& order, bool may_pad) {
  return require_strides(box, &order, nullptr, may_pad);
}

Box Lowering::require_exact(Box& box, const Sizes& stride, bool may_pad) {
  return require_strides(box, nullptr, &stride, may_pad);
}

Box Lowering::require_contiguous(Box& box) {
  const Sizes stride = dense_strides(shape(box));
  return require_strides(box, nullptr, &stride, false);
}

}  // namespace jointer::kernels
