#pragma once

#include <string_view>

namespace jointer {

// Matches like Python's fnmatchcase: `*` matches any text, `?` any character, `[ab]` and `[a-c]`
// one character of a set, `[!ab]` one character outside it. Any other character matches itself.
// Characters are bytes. Cost: at most the product of the two lengths, if each `[` has its `]`.
bool glob_matches(std::string_view pattern, std::string_view text);

}  // namespace jointer
