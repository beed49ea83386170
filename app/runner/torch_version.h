#pragma once

// The torch that this runner is built with, and those that captures and packages are of.

#include <string>
#include <string_view>

namespace jointer::runner {

// "2.15.0".
std::string_view torch_version();

// Whether code that was compiled for `torch` can be loaded: the same release, however it was built.
bool is_this_release(std::string_view torch);

// Whether a graph that was captured by `torch` calls the operators of this one: the same minor
// version, or one that is not known.
bool is_this_minor(std::string_view torch);

// The end of a message about an operator: "; the capture is of torch 2.11.0, this runner of 2.15.0:
// ...". Empty where both are of the same minor version.
std::string of_another_torch(std::string_view torch);

}  // namespace jointer::runner
