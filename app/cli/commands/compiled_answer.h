#pragma once

// The answer of `jointer kernels --source compiled`.

#include <string>

#include "app/cli/commands/options.h"
#include "core/base/result.h"
#include "core/graph/graph.h"

namespace jointer::cli {

// Reads the artifacts at `path`, chooses the compilation that best fits `part`, and ties its
// kernels to the part's calls. The answer has the members of `--source inductor`, and others that
// describe the artifacts. Error (input): same as read_compile_artifacts.
Result<Json> compiled_answer(const std::string& path, const Graph& graph, PartId part);

// Prints the number of tied calls, everything that could not be read or tied, and the number of
// blocks whose size is unknown or assumed.
void print_ties(const Json& answer);

}  // namespace jointer::cli
