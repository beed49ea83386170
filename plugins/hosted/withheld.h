#pragma once

#include <string>

#include "core/pass/pass.h"

namespace jointer {

// In place of a pass whose code nobody allowed to run: it is listed, its parameters are known, and
// a run of it is refused (usage), for the reason given.
Pass withheld(const Pass& pass, std::string why);

}  // namespace jointer
