#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"

namespace jointer {

// The first words of a command line, and variables to add to the environment of this process.
struct ProgramCommand {
  std::vector<std::string> command;
  std::vector<std::pair<std::string, std::string>> environment;
};

// The command `python -m jointer`, with the package in the resources. Python is $JOINTER_PYTHON,
// else the one set at build time, else python3. Error (run): Python was not found or is not
// executable, or the package does not exist.
Result<ProgramCommand> python_program();

// The value of PYTHONPATH that puts the package in the resources before the current entries. Empty
// if the resources do not contain the package.
std::string python_path();

}  // namespace jointer
