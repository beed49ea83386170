#pragma once

// Compares the torch version of this runner with that of captures and packages.

#include <string>
#include <string_view>

namespace jointer::runner {

// The version of torch, such as "2.15.0".
std::string_view torch_version();

// True if code compiled for version `torch` can be loaded: the releases match, regardless of the
// builds.
bool matches_release(std::string_view torch);

// True if a graph captured with version `torch` calls operators as this version defines them: the
// minor versions match, or `torch` is unknown.
bool matches_minor(std::string_view torch);

// The end of a message about an operator: "; the capture was made with torch 2.11.0, but this
// runner is built with torch 2.15.0; ...". Empty if matches_minor(torch).
std::string of_another_torch(std::string_view torch);

}  // namespace jointer::runner
