#pragma once

// Finds jointer-runner, the program that each rank runs. core/process/python.h finds Python.

#include "core/base/result.h"
#include "core/process/python.h"

namespace jointer {

// Looks at $JOINTER_RUNNER, then next to this program, then on the path. Error (run): the program
// is in none of these places.
Result<ProgramCommand> runner_program();

}  // namespace jointer
