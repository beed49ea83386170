#pragma once

#include <span>

#include "app/runner/platform.h"

namespace jointer::runner {

// Runs one rank from its command line and environment: loads, runs, measures, verifies, and says so
// on standard output. Returns the exit code: 0 done, 2 wrong usage, 3 invalid input, 4 failed; that
// outputs differ is a result, not a failure. `platforms`: what this binary can run on.
int run_rank(int argc, char** argv, MakePlatform cpu, MakePlatform cuda);

}  // namespace jointer::runner
