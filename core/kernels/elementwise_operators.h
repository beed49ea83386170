#pragma once

// Element-wise operators of ATen and the operations of a loop body that they are lowered to.

#include <span>
#include <string_view>

namespace jointer::kernels {

struct ElementwiseOperator {
  std::string_view packet;  // "aten.add"
  std::string_view op;      // of `torch._inductor.virtualized.ops`: "add"
};

// Sorted by packet.
std::span<const ElementwiseOperator> elementwise_operators();

}  // namespace jointer::kernels
