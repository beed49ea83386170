#pragma once

#include <string_view>

namespace jointer {

// Matches as Python's fnmatchcase does: `*` matches any text, `?` any character, `[ab]` and `[a-c]`
// one character of a set, `[!ab]` one that is not in it; everything else matches itself. Characters
// are bytes. Cost: at most the product of both lengths.
bool glob_matches(std::string_view pattern, std::string_view text);

}  // namespace jointer
