#pragma once

// Checks that a command's outputs can be written, before it computes anything.

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace jointer::cli {

struct OutputFile {
  std::string_view option;  // that names it: "--output"
  std::string path;         // a file, `-`, or empty: none
};

// Error (run): what is wrong with the first that cannot be written. Error (usage): two of them are
// one file, or one is a file that the command reads (`inputs`: paths, `-`, or empty).
Result<void> check_outputs(const std::vector<OutputFile>& outputs,
                           const std::vector<std::string>& inputs);

// One of them goes to standard output, which then holds nothing else.
bool fills_standard_output(const std::vector<OutputFile>& outputs);

// A folder that is made where it does not exist; empty: none. Error (run): why it cannot be.
Result<void> check_output_folder(const std::string& folder);

}  // namespace jointer::cli
