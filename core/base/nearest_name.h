#pragma once

#include <span>
#include <string>
#include <string_view>

namespace jointer {

// The name most likely meant by a mistyped one: the candidate with the fewest inserted, removed or
// replaced letters, or the first of these if several have equally few. A candidate differs in at
// most a third of the letters, or contains `name`. Empty if there is no candidate.
std::string_view nearest_name(std::string_view name, std::span<const std::string_view> names);

// Lists some of the names, the most similar to `name` first: "tp, dp and 12 more".
std::string some_names(std::string_view name, std::span<const std::string_view> names);

// Returns "; did you mean NEAREST?" to end a sentence with; ";" if no name is similar.
std::string nearest_name_question(std::string_view name, std::span<const std::string_view> names);

}  // namespace jointer
