#pragma once

#include <string>
#include <string_view>

namespace jointer {

// Path of a file or folder in `resources/`: the installed one (share/jointer) if it exists,
// otherwise the one in the source tree from which the program was built. Empty if neither exists.
std::string find_resource(std::string_view name);

}  // namespace jointer
