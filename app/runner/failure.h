#pragma once

// The failure of a rank as a value, which the rank reports before it ends.

#include <string>
#include <tl/expected.hpp>
#include <utility>

#include "core/bench/event.h"

namespace jointer::runner {

template <class T>
using Or = tl::expected<T, RankFailed>;
using Done = Or<void>;

// `kind`: one of the kinds of RankFailed.
inline tl::unexpected<RankFailed> failure(std::string kind, std::string text,
                                          std::string node = {}) {
  return tl::unexpected<RankFailed>(
      {.kind = std::move(kind), .node = std::move(node), .text = std::move(text)});
}

}  // namespace jointer::runner
