#pragma once

#include <string_view>

namespace jointer {

// True for the functions of symbolic sizes (Expression) that do not always return a float: `Max`,
// `CeilToInt`, but not `IntTrueDiv`, whose value need not be a size.
bool is_size_function(std::string_view name);

}  // namespace jointer
