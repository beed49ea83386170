#pragma once

#include <utility>

#include "core/base/result.h"

namespace jointer {

// The error for an edit that is not legal: one sentence that says why and names the nodes.
template <class... Args>
[[nodiscard]] tl::unexpected<Error> refuse(fmt::format_string<Args...> format, Args&&... args) {
  return fail(Error::Kind::usage, format, std::forward<Args>(args)...);
}

}  // namespace jointer
