#pragma once

// The windows of a pooling, as numbers of a node.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/kernels/ir.h"

namespace jointer::kernels {

// The sizes of a window, its steps, the padding, and the distance of its elements, by dimension.
struct PoolWindows {
  Sizes kernel, stride, padding, dilation;

  // `numbers`: those of FxKind::max_pool, or the end of those of FxKind::average_pool.
  static PoolWindows from(const Sizes& numbers, std::size_t first, std::size_t dims) {
    PoolWindows made;
    Sizes* all[] = {&made.kernel, &made.stride, &made.padding, &made.dilation};
    std::size_t at = first;
    for (Sizes* each : all)
      for (std::size_t i = 0; i < dims; ++i) each->push_back(numbers[at++]);
    return made;
  }
  [[nodiscard]] Sizes numbers() const {
    Sizes all;
    for (const Sizes* each : {&kernel, &stride, &padding, &dilation})
      all.insert(all.end(), each->begin(), each->end());
    return all;
  }
};

// The number of windows along a dimension in which an element can lie.
inline std::int64_t windows_over(std::int64_t kernel, std::int64_t stride) {
  std::int64_t most = 1;
  for (std::int64_t at = 0; at < 2 * kernel; ++at) {
    const std::int64_t first = at < kernel ? 0 : (at - kernel) / stride;
    most = std::max(most, at / stride - first);
  }
  return most;
}

}  // namespace jointer::kernels
