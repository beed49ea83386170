// Source: torch/distributed/_symmetric_memory/__init__.py, make_contiguous_for_perm;
// aten/src/ATen/TensorUtils.cpp, computeStride.

#include "passes/symm_mem/strides.h"

#include <algorithm>

namespace jointer {

std::optional<std::vector<Dim>> dense_along(std::span<const Dim> shape, std::span<const Dim> has,
                                            std::int64_t dim) {
  const auto rank = static_cast<std::int64_t>(shape.size());
  if (dim < 0) dim += rank;
  if (dim < 0 || dim >= rank) return {};
  std::vector<std::size_t> order{static_cast<std::size_t>(dim)};
  for (std::size_t i = 0; i < shape.size(); ++i)
    if (static_cast<std::int64_t>(i) != dim) order.push_back(i);
  std::vector<Dim> strides(shape.size());
  Dim step{.value = 1, .expression = {}};
  // `is_product` describes the next stride: if it is a product that contains a symbol, only its
  // value is known. `is_known` is true as long as no such stride was used.
  bool is_product = false, is_known = true;
  bool is_dense = has.size() == shape.size(), is_empty = false;
  for (std::size_t i = order.size(); i-- > 0;) {
    const Dim size = shape[order[i]];
    strides[order[i]] = step;
    is_known = is_known && !is_product;
    if (is_dense && size.value != 1 && has[order[i]].value != step.value) is_dense = false;
    is_empty = is_empty || size.value == 0;
    if (!size.expression && size.value <= 1) continue;
    if (step.value == 1 && !step.expression) {
      step = size;
    } else {
      is_product = is_product || size.expression || step.expression;
      step = {.value = step.value * size.value, .expression = {}};
    }
  }
  // In torch, a tensor without elements is dense.
  if (!has.empty() && (is_dense || is_empty)) return std::vector<Dim>(has.begin(), has.end());
  if (!is_known) return {};
  return strides;
}

bool can_view(std::span<const Dim> shape, std::span<const Dim> stride, std::span<const Dim> as) {
  if (std::ranges::any_of(shape, [](const Dim& d) { return d.value == 0; })) return true;
  if (shape.empty() || stride.size() != shape.size()) return true;
  // A chunk is a run of dimensions that are contiguous with each other. No dimension of the new
  // shape may span two chunks.
  std::size_t at = as.size();
  std::int64_t base = stride.back().value, chunk = 1, seen = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    chunk *= shape[i].value;
    if (i > 0 && (shape[i - 1].value == 1 || stride[i - 1].value == chunk * base)) continue;
    while (at > 0 && (seen < chunk || as[at - 1].value == 1)) seen *= as[--at].value;
    if (seen != chunk) return false;
    if (i > 0) base = stride[i - 1].value;
    chunk = seen = 1;
  }
  return true;
}

}  // namespace jointer
