#pragma once

// The windows of a pooling operator, which a node stores as its numbers.

#include <cstddef>
#include <cstdint>

#include "core/kernels/ir.h"

namespace jointer::kernels {

// By dimension: the size of a window, the step between windows, the padding, and the step between
// the elements of a window.
struct PoolWindows {
  Sizes kernel, stride, padding, dilation;

  // `numbers`: those of a node, in which the windows begin at `first`.
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

// The maximum number of windows along a dimension that contain the same element.
inline std::int64_t windows_over(std::int64_t kernel, std::int64_t stride) {
  return (kernel - 1) / stride + 1;
}

}  // namespace jointer::kernels
