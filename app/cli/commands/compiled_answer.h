#pragma once

// The output of `jointer kernels --source compiled`.

#include <cstddef>
#include <string>

#include "app/cli/commands/options.h"
#include "core/base/result.h"
#include "core/capture/compile_artifacts.h"
#include "core/capture/tied_kernels.h"
#include "core/graph/graph.h"

namespace jointer::cli {

// The compilation that fits a part best, and its kernels tied to the part's calls.
struct OpenedCompilation {
  CompileArtifacts artifacts;
  std::size_t best = 0;  // index in `artifacts.programs`
  TiedKernels ties;
  bool is_from_cache = false;

  [[nodiscard]] const CompiledProgram& program() const { return artifacts.programs[best]; }
};

// Reads the artifacts at `path` or, if that is empty, the part's packages in the cache of compiled
// packages. Errors: same as read_compile_artifacts; usage if the cache has no package of the part.
Result<OpenedCompilation> open_compilation(const std::string& path, const Graph& graph,
                                           PartId part);

// Returns the members that `--source inductor` has, and others that describe the artifacts.
Json compiled_answer(const OpenedCompilation& opened, const Graph& graph);

// Prints the number of tied calls; the kernels, nodes and calls that were not tied, and the
// statements and artifacts that were not understood (up to 8 names of each); and the numbers of
// blocks whose size is unknown or whose data type is assumed.
void print_ties(const Json& answer);

}  // namespace jointer::cli
