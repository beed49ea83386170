#pragma once

#include <span>
#include <string>
#include <string_view>

namespace jointer {

// What a person who mistyped a name may have meant: of the names that a third of their letters
// inserted, removed or replaced makes of it, or that contain it, the one with the fewest such
// letters; the first of several. Empty if there is none.
std::string_view nearest_name(std::string_view name, std::span<const std::string_view> names);

// Some of the names, those that look most like `name` first: "tp, dp and 12 more".
std::string some_names(std::string_view name, std::span<const std::string_view> names);

// "; did you mean NEAREST?" to follow a sentence; ";" where there is none.
std::string nearest_name_question(std::string_view name, std::span<const std::string_view> names);

}  // namespace jointer
