#pragma once

// Formats the default of a parameter for display.

#include <string>

#include "core/pass/parameter.h"

namespace jointer {

// "16 MiB", "none", "[aten.mm.default/2]".
std::string default_text(const Parameter& parameter);

}  // namespace jointer
