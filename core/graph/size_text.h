#pragma once

// Sizes and shapes as text, with the expressions of symbolic sizes.

#include <string>

#include "core/graph/graph.h"

namespace jointer {

inline std::string size_text(const Graph& graph, const Dim& size) {
  return size.expression ? std::string(graph.expression_text(size.expression))
                         : std::to_string(size.value);
}

// The dtype and shape of a tensor, such as "bfloat16[2,s0]".
inline std::string type_text(const Graph& graph, const Tensor& tensor) {
  std::string text(to_string(tensor.dtype));
  text += '[';
  for (const Dim& size : graph.shape(tensor)) {
    if (text.back() != '[') text += ',';
    text += size_text(graph, size);
  }
  return text + ']';
}

}  // namespace jointer
