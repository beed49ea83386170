#pragma once

// The answer of `jointer kernels --source compiled`.

#include <string>

#include "app/cli/commands/options.h"
#include "core/base/result.h"
#include "core/graph/graph.h"

namespace jointer::cli {

// Reads the artifacts at `path`, chooses the compilation that fits `part`, and ties its kernels to
// the part's calls. The members are those of `--source inductor`; the others describe the
// artifacts. Error (input): same as read_compile_artifacts.
Result<Json> compiled_answer(const std::string& path, const Graph& graph, PartId part);

// Prints what could not be read or tied.
void print_ties(const Json& answer);

}  // namespace jointer::cli
