#pragma once

// Sizes and shapes as text, with the expressions of symbolic sizes.

#include <span>
#include <string>
#include <string_view>

#include "core/graph/graph.h"

namespace jointer {

inline std::string size_text(const Graph& graph, const Dim& size) {
  return size.expression ? std::string(graph.expression_text(size.expression))
                         : std::to_string(size.value);
}

// The sizes in brackets, such as "[2,s0]".
inline std::string sizes_text(const Graph& graph, std::span<const Dim> sizes,
                              std::string_view separator = ",") {
  std::string text = "[";
  for (const Dim& size : sizes) {
    if (text.size() > 1) text += separator;
    text += size_text(graph, size);
  }
  return text + ']';
}

// The dtype and shape of a tensor, such as "bfloat16[2,s0]".
inline std::string type_text(const Graph& graph, const Tensor& tensor) {
  return std::string(to_string(tensor.dtype)) + sizes_text(graph, graph.shape(tensor));
}

}  // namespace jointer
