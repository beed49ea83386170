#pragma once

#include <string_view>

#include "core/graph/graph.h"

namespace jointer {

// True for a call of flex_attention or of its backward.
inline bool is_flex_attention(const Graph& graph, const Node& n) {
  if (n.kind != NodeKind::call) return false;
  std::string_view target = graph.target(n);
  if (constexpr std::string_view kSpace = "higher_order."; target.starts_with(kSpace))
    target.remove_prefix(kSpace.size());
  return target == "flex_attention" || target == "flex_attention_backward";
}

}  // namespace jointer
