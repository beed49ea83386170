#pragma once

// Checks that a command's outputs can be written, before it computes anything.

#include <initializer_list>
#include <string>

#include "core/base/result.h"

namespace jointer::cli {

// Each is the path of a file, `-`, or empty: none. Error (run): what is wrong with the first that
// cannot be written.
Result<void> check_outputs(std::initializer_list<std::string> files);

// A folder that is made where it does not exist; empty: none. Error (run): why it cannot be.
Result<void> check_output_folder(const std::string& folder);

}  // namespace jointer::cli
