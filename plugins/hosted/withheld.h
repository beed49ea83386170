#pragma once

#include <string>

#include "core/pass/pass.h"

namespace jointer {

// A stand-in for a pass whose code the user has not allowed to run. It is listed with its
// parameters. When it runs, it fails (usage) with the reason `why`.
Pass withheld(const Pass& pass, std::string why);

}  // namespace jointer
