#pragma once

#include <string>
#include <string_view>

namespace jointer {

// Where a file or folder of `resources/` is: installed with the program (share/jointer), else among
// the sources it was built from. Empty if it is in neither place.
std::string find_resource(std::string_view name);

}  // namespace jointer
