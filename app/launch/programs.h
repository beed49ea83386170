#pragma once

// Finds jointer-runner, the program that each rank runs. core/process/python.h finds Python.

#include "core/base/result.h"
#include "core/process/python.h"

namespace jointer {

// $JOINTER_RUNNER if it is set, else the program next to this one, else the one on the path. Error
// (run): there is none, or it is not executable.
Result<ProgramCommand> runner_program();

}  // namespace jointer
