#pragma once

// Puts the statements of a wrapper in C++ into the form of a wrapper in Python, which
// output_code_calls.h follows. Private to core/capture/cpp_wrapper*.cpp.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/capture/cpp_text.h"
#include "core/capture/output_code_parts.h"

namespace jointer::cpp {

// The body of `call`. `origins` has a statement for each line of `text`, and points into the
// wrapper.
struct PythonBody {
  std::string text;
  std::vector<wrapper::Origin> origins;
};

// `targets`: same as CppWrapper::targets. `parts` must have the sources. Statements that are not
// understood become calls of an unknown function. Cost: near linear.
PythonBody python_body(const std::vector<Statement>& statements,
                       const std::vector<std::string>& targets, const wrapper::Parts& parts);

// A list of numbers in the form of Python: "(2, 512, )" for `{2L, 512L}`.
std::string python_tuple(std::string_view list);
// Returns "float32" for `cached_torch_dtype_float32` and `aoti_torch_dtype_float32()`; empty for a
// text without a data type.
std::string_view dtype_name(std::string_view text);

}  // namespace jointer::cpp
