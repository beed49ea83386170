#pragma once

// The error for a name that does not exist in the graph.

#include <span>
#include <string_view>

#include "core/base/result.h"

namespace jointer {

// Returns, for example, "groups: expected a process group in the graph, got `pt`; the graph has tp,
// dp". `known` lists the existing names; the message lists up to eight of them, those most similar
// to `name` first, or says "none".
tl::unexpected<Error> unknown_name(std::string_view parameter, std::string_view kind,
                                   std::string_view name, std::span<const std::string_view> known);

}  // namespace jointer
