#pragma once

// The error for a name that the graph does not contain.

#include <span>
#include <string_view>

#include "core/base/result.h"

namespace jointer {

// "groups: expected a process group of the graph, got `pt`; the graph has tp, dp". `known`: the
// existing names; the message lists those most similar to `name`.
tl::unexpected<Error> unknown_name(std::string_view parameter, std::string_view kind,
                                   std::string_view name, std::span<const std::string_view> known);

}  // namespace jointer
