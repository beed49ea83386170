#pragma once

#include <cstddef>
#include <string>

#include "app/cli/commands/options.h"

namespace jointer::cli {

// "a, b, c +5": at most `max` of the names, and the number of the others. `names`: an array of
// strings.
std::string names_text(const Json& names, std::size_t max);

}  // namespace jointer::cli
