#pragma once

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

// `python -m jointer`, of the package among the resources: $JOINTER_PYTHON, else the Python that
// the build was told of, else python3. Error (run): there is none.
Result<ProgramCommand> python_program();

// PYTHONPATH with the package of the resources first, before what is in it; empty if the package is
// not among the resources.
std::string python_path();

}  // namespace jointer
