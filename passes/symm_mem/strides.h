#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/graph/tensor.h"

namespace jointer {

// The strides with which the tensor is dense once `dim` is moved to the front. `has` are the
// tensor's current strides, empty if unknown; they are returned if they already meet the condition.
// Returns nullopt if a stride would be a product that contains a symbolic size, or if the tensor
// has no dimension `dim`; a negative `dim` counts from the end.
std::optional<std::vector<Dim>> dense_along(std::span<const Dim> shape, std::span<const Dim> has,
                                            std::int64_t dim);

// True if memory with these strides can be viewed, in the sense of aten.view, in a different shape
// with the same number of elements, or if the strides are unknown (`stride` is empty). Uses the
// current values of symbolic sizes.
bool can_view(std::span<const Dim> shape, std::span<const Dim> stride, std::span<const Dim> as);

}  // namespace jointer
