#pragma once

// Where the programs are that a run is made of.

#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"

namespace jointer {

// The first words of a command line, and what its environment must have beside this process's.
struct ProgramCommand {
  std::vector<std::string> command;
  std::vector<std::pair<std::string, std::string>> environment;
};

// jointer-runner: where $JOINTER_RUNNER says, else beside this program, else on the path. Error
// (run): there is none.
Result<ProgramCommand> runner_program();

// `python -m jointer`, of the package among the resources: $JOINTER_PYTHON, else the Python that
// the build was told of, else python3. Error (run): there is none.
Result<ProgramCommand> python_program();

}  // namespace jointer
