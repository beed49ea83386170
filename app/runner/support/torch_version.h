#pragma once

// Compares the torch that this runner is built with to the torch of captures and packages.

#include <string>
#include <string_view>

namespace jointer::runner {

// Such as "2.15.0".
std::string_view torch_version();

// True if code that was compiled for `torch` can be loaded: the same release, in any build.
bool is_this_release(std::string_view torch);

// True if a graph that was captured by `torch` calls the operators of this one: the same minor
// version, or an unknown one.
bool is_this_minor(std::string_view torch);

// The end of a message about an operator: "; the capture was made with torch 2.11.0, this runner
// with torch 2.15.0: ...". Empty if both have the same minor version.
std::string of_another_torch(std::string_view torch);

}  // namespace jointer::runner
