#pragma once

#include <cstdint>

#include "core/pass/pass.h"

namespace jointer {

// Whether a graph may take `after` bytes at its peak where it took `before`: no limit was given, it
// keeps within it, or it takes no more than it did. Else a decision says that it stays as it was.
bool is_within_peak_limit(std::int64_t before, std::int64_t after, PassContext& context);

// The same of graphs before and after; measures nothing where there is no limit.
bool is_within_peak_limit(const Graph& before, const Graph& after, PassContext& context);

}  // namespace jointer
