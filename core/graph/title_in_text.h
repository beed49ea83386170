#pragma once

#include <string_view>

#include "core/graph/graph.h"

namespace jointer {

// The graph's title, or `the graph` if it has none, for use in a sentence. Valid as long as the
// graph's title.
inline std::string_view title_in_text(const Graph& graph) {
  return graph.title().empty() ? "the graph" : graph.title();
}

}  // namespace jointer
