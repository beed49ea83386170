#pragma once

#include <string_view>

namespace jointer {

// Python's fnmatchcase: `*` is any text, `?` any character, `[ab]` one of some, `[a-c]` one of a
// range, `[!ab]` none of them; everything else is itself. Characters are bytes. Cost: at most the
// product of both lengths.
bool glob_matches(std::string_view pattern, std::string_view text);

}  // namespace jointer
