#pragma once

// Finds and reads the artifacts of Inductor's compilations: logs of TORCH_TRACE with output code,
// post-grad graphs, provenance and collective schedules (torch 2.11 to 2.15), files with a wrapper,
// as in the folder that TORCHINDUCTOR_CACHE_DIR names, and AOTInductor packages.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/capture/compiled_kernels.h"

namespace jointer {

struct CompileArtifacts {
  std::vector<CompiledProgram> programs;  // in the order of the files' paths, then as logged
  // Files without such artifacts; in a folder, also files that cannot be opened.
  std::size_t ignored = 0;
  std::vector<std::string> problems;  // messages: entries and files that could not be read
};

// Reads the compilations in a log.
CompileArtifacts read_trace_artifacts(std::string_view file, std::string_view bytes);

// Reads a file, or all files in a folder and its subfolders. Error (input): no program was found,
// or the folder or a file with artifacts cannot be read; the message says why.
Result<CompileArtifacts> read_compile_artifacts(const std::string& path);

// Gives the kernels their nodes: from the mappings that were read with them, or else from comments,
// or else by the order of calls of the same operator in the post-grad graph. A kernel for which all
// of these fail has none. If a kernel with one node allocates its results, their assumed data types
// become those of the node. The functions above call it.
void assign_nodes(CompiledProgram& program);

}  // namespace jointer
