#pragma once

// Reads the wrapper that Inductor writes in C++ for AOTInductor, torch 2.11 to 2.15. The result has
// the form that output_code.h gives a wrapper in Python: kernels, blocks and events. The text is
// parsed and never compiled or run.

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/capture/compiled_kernels.h"

namespace jointer {

struct CppWrapper {
  std::string text;     // the wrapper
  std::string kernels;  // source of the kernels in C++, unless it is in the wrapper
  // The operators that the wrapper calls through the proxy executor, by number:
  // "_c10d_functional::all_reduce".
  std::vector<std::string> targets;
};

// Returns sources, kernels, blocks and events; `text` becomes the program's text. `name` is used in
// messages. Cost: near linear in the length of the texts. Error (input): the text has no complete
// function `run_impl`.
Result<CompiledProgram> read_cpp_wrapper(std::string_view name, CppWrapper wrapper);

}  // namespace jointer
