#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/graph/tensor.h"

namespace jointer {

// Strides of a tensor whose memory is dense once `dim` is moved to the front; those that it has, if
// it is so already (`has` may be empty: it has none). Nothing where one of them would be a product
// of a symbolic size.
std::optional<std::vector<Dim>> dense_along(std::span<const Dim> shape, std::span<const Dim> has,
                                            std::int64_t dim);

// Whether memory with these strides can be seen in another shape of as many elements, as
// aten.view asks. Symbolic sizes count with the numbers that they have now.
bool can_view(std::span<const Dim> shape, std::span<const Dim> stride, std::span<const Dim> as);

}  // namespace jointer
