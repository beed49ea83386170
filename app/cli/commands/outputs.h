#pragma once

// Checks that a command's outputs can be written, before it computes anything.

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace jointer::cli {

struct OutputFile {
  std::string_view option;  // the option that names it: "--output"
  std::string path;         // a file, `-`, or empty: none
};

// Error (run): the first output that cannot be written. Error (usage): two outputs are the same
// file, or one is a file that the command reads (`inputs`: paths, `-`, or empty).
Result<void> check_outputs(const std::vector<OutputFile>& outputs,
                           const std::vector<std::string>& inputs);

// True if one of them is standard output, to which nothing else is then written.
bool fills_standard_output(const std::vector<OutputFile>& outputs);

// Checks that the folder can be written to, or created if it does not exist. Empty: nothing to
// check. Error (run): why not.
Result<void> check_output_folder(const std::string& folder);

}  // namespace jointer::cli
