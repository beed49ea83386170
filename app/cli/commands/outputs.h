#pragma once

// Checks that a command's outputs can be written, before it computes anything.

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace jointer::cli {

struct OutputFile {
  std::string_view option;  // the option that names the file: "--output"
  std::string path;         // a file or `-`; empty if there is no output
};

// Error (run): an output cannot be written; the message names the first one. Error (usage): two
// outputs are the same file or both standard output, or an output is a file that the command reads
// (`inputs`: paths, `-`, or empty).
Result<void> check_outputs(const std::vector<OutputFile>& outputs,
                           const std::vector<std::string>& inputs);

// True if one of the outputs is standard output. The command then writes nothing else there.
bool fills_standard_output(const std::vector<OutputFile>& outputs);

// Checks that the folder is writable or, if it does not exist, can be created. Does nothing if
// `folder` is empty. Error (run): the folder cannot be written or created; the message says why.
Result<void> check_output_folder(const std::string& folder);

}  // namespace jointer::cli
