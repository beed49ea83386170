#pragma once

// Finds jointer-runner, the program that each rank runs, and the profiler that can run it.
// core/process/python.h finds Python.

#include <string>

#include "core/base/result.h"
#include "core/process/python.h"

namespace jointer {

// $JOINTER_RUNNER if it is set, otherwise the program next to this one, otherwise the one on PATH.
// Error (run): there is no such program, or it is not executable.
Result<ProgramCommand> runner_program();

// The path of nsys (Nsight Systems). Error (run): it is not on PATH.
Result<std::string> nsys_program();

}  // namespace jointer
