#pragma once

// Finds jointer-runner, the program that each rank runs. core/process/python.h finds Python.

#include "core/base/result.h"
#include "core/process/python.h"

namespace jointer {

// $JOINTER_RUNNER if it is set, otherwise the program next to this one, otherwise the one on PATH.
// Error (run): there is no such program, or it is not executable.
Result<ProgramCommand> runner_program();

}  // namespace jointer
