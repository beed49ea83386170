#pragma once

// Provides captures in the form that ranks read: native captures on disk. The user may have opened
// FX text, a log, one of several graphs, or standard input.

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/bench/request.h"
#include "core/graph/graph.h"
#include "core/process/temporary_folder.h"

namespace jointer {

// True if each rank has its own files: one of the paths contains {rank}.
bool has_file_per_rank(const ProgramFiles& files);

// True if ranks can read the file as it is. Error (input): the file cannot be read.
Result<bool> is_native_file(const std::string& path);

struct ConvertRequest {
  ProgramFiles files;  // may contain {rank}
  std::optional<std::size_t> graph_index;
  Assumptions assumptions;
  std::vector<int> ranks;         // the ranks that will read the files
  const Graph* opened = nullptr;  // the graph in the files; used only if all ranks read the same
  std::string name;               // written files are NAME.json, or NAME0.json and so on by rank
};

// Returns the given files if all of them are native; otherwise writes native captures of their
// graphs to `folder`. Error (input, usage): same as open_graph. Error (run): a capture cannot be
// written.
Result<ProgramFiles> native_files(const ConvertRequest& request, const TemporaryFolder& folder);

}  // namespace jointer
