#pragma once

#include <span>
#include <string_view>

namespace jointer {

// The name with the fewest letters to insert, remove or replace; the first of several; empty if
// there are none. What a person who mistyped one may have meant.
std::string_view nearest_name(std::string_view name, std::span<const std::string_view> names);

}  // namespace jointer
