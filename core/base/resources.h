#pragma once

#include <string>
#include <string_view>

namespace jointer {

// Path of a file or folder of `resources/`: as installed with the program (share/jointer), else in
// the source tree it was built from. Empty if it is in neither.
std::string find_resource(std::string_view name);

}  // namespace jointer
