#pragma once

#include <string>

#include "core/pass/pass.h"

namespace jointer {

// A stand-in for a pass with code that the user has not allowed to run. It is listed with its
// parameters; running it fails (usage) with the reason `why`.
Pass withheld(const Pass& pass, std::string why);

}  // namespace jointer
