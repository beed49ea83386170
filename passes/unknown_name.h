#pragma once

// What is said of a name that a pass was given and the graph does not have.

#include <span>
#include <string_view>

#include "core/base/result.h"

namespace jointer {

// "groups: expected a process group of the graph, got `pt`; it has tp, dp". `known`: what there
// is; those that look most like `name` are shown.
tl::unexpected<Error> unknown_name(std::string_view parameter, std::string_view kind,
                                   std::string_view name, std::span<const std::string_view> known);

}  // namespace jointer
