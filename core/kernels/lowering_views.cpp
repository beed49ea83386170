// Views: reshaping, permuting, expanding and slicing without a copy.
// Source: torch/_inductor/ir.py (View, ExpandView, PermuteView, SliceView, ReinterpretView),
// torch/_inductor/lowering.py.

#include <algorithm>

#include "core/kernels/lowering_state.h"

namespace jointer::kernels {
namespace {

// The strides of a tensor viewed in other sizes; empty if that needs a copy. Like
// at::detail::computeStride.
Sizes viewed_strides(const Sizes& sizes, const Sizes& stride, const Sizes& wanted) {
  Sizes result(wanted.size(), 1);
  auto view = static_cast<std::ptrdiff_t>(wanted.size()) - 1;
  std::int64_t base = stride.empty() ? 1 : stride.back(), count = 1, viewed = 1;
  for (auto dim = static_cast<std::ptrdiff_t>(sizes.size()) - 1; dim >= 0; --dim) {
    const auto d = static_cast<std::size_t>(dim);
    count *= sizes[d];
    if (dim != 0 && (sizes[d - 1] == 1 || stride[d - 1] == count * base)) continue;
    while (view >= 0 && (viewed < count || wanted[static_cast<std::size_t>(view)] == 1)) {
      result[static_cast<std::size_t>(view)] = viewed * base;
      viewed *= wanted[static_cast<std::size_t>(view)];
      --view;
    }
    if (viewed != count) return {};
    if (dim > 0) {
      base = stride[d - 1];
      count = viewed = 1;
    }
  }
  return view == -1 ? result : Sizes{};
}

}  // namespace

Box Lowering::add_view(const Box& of, ViewState made) {
  made.parent = made.is_strided ? -1 : of.view;
  made.dtype = dtype(of);
  views.push_back(std::move(made));
  return {.storage = of.storage,
          .view = static_cast<std::int32_t>(views.size()) - 1,
          .origins = current};
}

Box Lowering::strided_view(const Box& of, Sizes sizes, Sizes stride, std::int64_t start) {
  ViewState made;
  made.is_strided = true;
  made.shape = std::move(sizes);
  made.stride = std::move(stride);
  made.offset = start;
  return add_view(of, std::move(made));
}

Positions Lowering::reshape_positions(const Sizes& from, const Sizes& to, const Positions& where) {
  // The position as one number in the new sizes, split by the old sizes.
  Positions result(from.size(), IndexPool::kZero);
  if (product(from) == 0) return result;  // there are no elements to read
  std::size_t i = from.size(), j = to.size();
  while (i > 0) {
    // The fewest trailing dimensions of both shapes that have the same number of elements.
    std::int64_t old_size = from[--i], new_size = 1;
    std::size_t old_first = i, new_first = j;
    if (old_size == 1) continue;
    while (new_first > 0 && new_size < old_size) new_size *= to[--new_first];
    while (new_size != old_size) {
      if (new_size < old_size) {
        if (new_first == 0) break;
        new_size *= to[--new_first];
      } else {
        if (old_first == 0) break;
        old_size *= from[--old_first];
      }
    }
    ExpressionIndex whole = IndexPool::kZero;
    std::int64_t step = 1;
    for (std::size_t k = j; k-- > new_first;) {
      whole = pool.add(whole, pool.multiply(where[k], step));
      step *= to[k];
    }
    std::int64_t divisor = 1;
    for (std::size_t k = i + 1; k-- > old_first;) {
      result[k] =
          k == old_first ? pool.divide(whole, divisor) : pool.modular(whole, divisor, from[k]);
      divisor *= from[k];
    }
    i = old_first;
    j = new_first;
  }
  return result;
}

Box Lowering::reshape(const Box& of, const Sizes& sizes) {
  const Sizes old = shape(of);
  if (old == sizes) return {.storage = of.storage, .view = of.view, .origins = current};
  Box source = of;
  if (product(sizes) > 0 && has_layout(source)) {
    const Sizes own = strides(source);
    const bool may_be_padded = !is_new_torch() && is_flexible(source);
    const Sizes expected = may_be_padded ? padded(own, old, dtype(source), is_on_gpu(source)) : own;
    if (is_contiguous(old, expected)) {
      Box dense = source;
      if (is_flexible(dense)) freeze_exactly(buffer_of(dense), dense_strides(old), false);
      return strided_view(dense, sizes, dense_strides(sizes), offset(dense));
    }
    if (is_new_torch()) {
      if (source.view < 0) decide_layout(buffer_of(source));
      Sizes viewed = viewed_strides(old, strides(source), sizes);
      if (!viewed.empty() || sizes.empty())
        return strided_view(source, sizes, std::move(viewed), offset(source));
    }
  }
  ViewState made;
  made.shape = sizes;
  if (product(sizes) == 0)
    made.at.assign(old.size(), IndexPool::kZero);
  else
    made.at = reshape_positions(old, sizes, variables(sizes));
  return add_view(source, std::move(made));
}

Box Lowering::permute(const Box& of, const Sizes& order) {
  const Sizes old = shape(of);
  Sizes sizes(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) sizes[i] = old[static_cast<std::size_t>(order[i])];
  if (has_layout(of)) {
    if (of.view < 0) decide_layout(buffer_of(of));
    const Sizes own = strides(of);
    Sizes stride(order.size());
    for (std::size_t i = 0; i < order.size(); ++i)
      stride[i] = own[static_cast<std::size_t>(order[i])];
    return strided_view(of, std::move(sizes), std::move(stride), offset(of));
  }
  ViewState made;
  const Positions own = variables(sizes);
  made.at.resize(order.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    made.at[static_cast<std::size_t>(order[i])] = own[i];
  made.shape = std::move(sizes);
  return add_view(of, std::move(made));
}

Box Lowering::expand(const Box& of, Sizes sizes, bool is_fanout) {
  const Sizes old = shape(of);
  if (old == sizes) return of;
  if (const std::int64_t count = product(old); count > 0)
    mark_reuse(of, product(sizes) / count, is_fanout);
  const std::size_t skipped = sizes.size() - old.size();
  if (has_layout(of)) {
    if (of.view < 0) decide_layout(buffer_of(of));
    const Sizes own = strides(of);
    Sizes stride(sizes.size(), 0);
    for (std::size_t i = 0; i < old.size(); ++i) stride[skipped + i] = old[i] == 1 ? 0 : own[i];
    return strided_view(of, sizes, std::move(stride), offset(of));
  }
  ViewState made;
  made.shape = sizes;
  const Positions own = variables(sizes);
  for (std::size_t i = 0; i < old.size(); ++i)
    made.at.push_back(old[i] == 1 ? IndexPool::kZero : own[skipped + i]);
  return add_view(of, std::move(made));
}

Box Lowering::slice(const Box& of, std::size_t dim, std::int64_t start, std::int64_t end,
                    std::int64_t step) {
  Sizes sizes = shape(of);
  if (start == 0 && end >= sizes[dim] && step == 1) return of;
  sizes[dim] = (end - start + step - 1) / step;
  if (has_layout(of)) {
    if (of.view < 0) decide_layout(buffer_of(of));
    Sizes stride = strides(of);
    const std::int64_t first = offset(of) + stride[dim] * start;
    stride[dim] *= step;
    return strided_view(of, std::move(sizes), std::move(stride), first);
  }
  ViewState made;
  made.at = variables(sizes);
  made.at[dim] = pool.add(pool.multiply(made.at[dim], step), pool.constant(start));
  made.shape = std::move(sizes);
  return add_view(of, std::move(made));
}

Boxes Lowering::broadcast(Boxes inputs) {
  Sizes common;
  for (const Box& input : inputs) {
    const Sizes sizes = shape(input);
    if (sizes.size() > common.size())
      common.insert(common.begin(), sizes.size() - common.size(), 1);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      std::int64_t& size = common[common.size() - sizes.size() + i];
      if (size == 1) size = sizes[i];
    }
  }
  for (Box& input : inputs) {
    const Sizes& sizes = shape(input);
    bool differs = sizes.size() != common.size();
    for (std::size_t i = 0; i < sizes.size() && !differs; ++i)
      differs = (sizes[i] == 1) != (common[i] == 1);
    if (differs) input = expand(input, common);
  }
  return inputs;
}

}  // namespace jointer::kernels
