#pragma once

// Finds Jointer's own programs, such as jointer-runner.

#include <string>

#include "core/base/result.h"

namespace jointer {

struct OwnProgram {
  const char* name;        // "jointer-runner"
  const char* purpose;     // "runs plugins"
  const char* variable;    // the environment variable that names the program
  const char* if_missing;  // a remedy: "set JOINTER_PLUGIN_HOST to its path"
};

// The path of the program: the one that the variable names if it is set, otherwise the one next to
// this program, otherwise the one on PATH. Error (run): there is no such program, or it is not
// executable.
Result<std::string> find_own_program(const OwnProgram& program);

}  // namespace jointer
