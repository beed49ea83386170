#pragma once

#include <span>
#include <string>
#include <string_view>

namespace jointer {

// The name most likely meant by a mistyped one: the candidate with the fewest inserted, removed or
// replaced letters, or the first of these if several have equally few. Candidates differ from
// `name` in at most a third of the letters of the longer name, rounded up, or contain `name` if it
// has three letters or more. Empty if there is no candidate.
std::string_view nearest_name(std::string_view name, std::span<const std::string_view> names);

// Lists up to eight of the names, the most similar to `name` first, and then the number of other
// names: " and 12 more".
std::string some_names(std::string_view name, std::span<const std::string_view> names);

// Returns "; did you mean NEAREST?", or ";" if no name is similar. Goes between a message and a
// list of the names. NEAREST is shown between `before` and `after`, which users write with every
// name.
std::string nearest_name_question(std::string_view name, std::span<const std::string_view> names,
                                  std::string_view before = {}, std::string_view after = {});

}  // namespace jointer
