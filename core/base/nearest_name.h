#pragma once

#include <span>
#include <string>
#include <string_view>

namespace jointer {

// The name that a mistyped one most likely stands for: the candidate with the fewest inserted,
// removed or replaced letters, and the first among equals. Candidates differ in at most a third of
// their letters, or contain `name`. Empty if there is no candidate.
std::string_view nearest_name(std::string_view name, std::span<const std::string_view> names);

// A few of the names, the most similar to `name` first: "tp, dp and 12 more".
std::string some_names(std::string_view name, std::span<const std::string_view> names);

// "; did you mean NEAREST?" as the end of a sentence; ";" if no name is near.
std::string nearest_name_question(std::string_view name, std::span<const std::string_view> names);

}  // namespace jointer
