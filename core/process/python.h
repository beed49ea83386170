#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"

namespace jointer {

// The beginning of a command line, and the variables to set in addition to the environment.
struct ProgramCommand {
  std::vector<std::string> command;
  std::vector<std::pair<std::string, std::string>> environment;
};

// The command `python -m jointer`, with the package from the resources. Python is $JOINTER_PYTHON
// or, if that is not set, the Python chosen at build time or, if that does not exist, python3.
// Error (run): Python was not found or is not executable, or the package does not exist.
Result<ProgramCommand> python_program();

// The value of PYTHONPATH with the package from the resources before the current entries. Empty if
// the resources do not contain the package.
std::string python_path();

}  // namespace jointer
