#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"

namespace jointer {

// The first words of a command line, and the variables to add to this process's environment.
struct ProgramCommand {
  std::vector<std::string> command;
  std::vector<std::pair<std::string, std::string>> environment;
};

// The command `python -m jointer` for the package in the resources. Python is $JOINTER_PYTHON, else
// the one set at build time, else python3. Error (run): Python or the package does not exist.
Result<ProgramCommand> python_program();

// PYTHONPATH with the package in the resources first, followed by the current value. Empty if the
// resources do not contain the package.
std::string python_path();

}  // namespace jointer
