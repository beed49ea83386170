#pragma once

#include <string>

#include "app/runner/platform.h"

namespace jointer::runner {

// Runs one rank according to its command line and environment: loads, runs, measures and verifies
// the graph, and reports on standard output. Returns the exit code: 0 done, 2 wrong usage, 3
// invalid input, 4 failed. A difference between outputs is a result, not a failure. `cpu`, `cuda`:
// the platforms of this binary; `cuda` may be null. `no_device`: the reason why no CUDA device can
// be used, which is reported in the result if the CPU runs the graph instead, and in the failure if
// `cuda` is null.
int run_rank(int argc, char** argv, MakePlatform cpu, MakePlatform cuda,
             const std::string& no_device);

}  // namespace jointer::runner
