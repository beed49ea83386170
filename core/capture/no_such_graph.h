#pragma once

#include <cstddef>
#include <string_view>

#include "core/base/result.h"

namespace jointer {

// The error (usage) of a request for a graph that a file does not contain. `count`: the number of
// its graphs, at least 1.
inline tl::unexpected<Error> no_such_graph(std::string_view file, std::size_t index,
                                           std::size_t count) {
  return fail(Error::Kind::usage, "{}: there is no graph {}; the {} one is {}", file, index,
              count == 1 ? "only" : "last", count - 1);
}

}  // namespace jointer
