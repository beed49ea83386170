#pragma once

// Finds jointer-runner, the program that ranks run. core/process/python.h finds Python.

#include "core/base/result.h"
#include "core/process/python.h"

namespace jointer {

// Looks at $JOINTER_RUNNER, then next to this program, then on the path. Error (run): it is not
// found in any of these places.
Result<ProgramCommand> runner_program();

}  // namespace jointer
