#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/graph/tensor.h"

namespace jointer {

// Strides of a tensor whose memory is dense once `dim` is moved to the front; its own strides,
// `has` (empty: unknown), if that is already so. None if a stride would be a product of a symbolic
// size.
std::optional<std::vector<Dim>> dense_along(std::span<const Dim> shape, std::span<const Dim> has,
                                            std::int64_t dim);

// True if memory with these strides can be viewed in another shape with as many elements, as
// aten.view requires. Symbolic sizes count with their current values.
bool can_view(std::span<const Dim> shape, std::span<const Dim> stride, std::span<const Dim> as);

}  // namespace jointer
