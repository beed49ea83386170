#pragma once

// Where the program is that ranks are made of; for the other one see core/process/python.h.

#include "core/base/result.h"
#include "core/process/python.h"

namespace jointer {

// jointer-runner: where $JOINTER_RUNNER says, else beside this program, else on the path. Error
// (run): there is none.
Result<ProgramCommand> runner_program();

}  // namespace jointer
