#pragma once

// Captures as ranks read them: native ones on disk. What a person gives may be a text, a log, one
// of several graphs, or standard input.

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/bench/request.h"
#include "core/graph/graph.h"
#include "core/process/temporary_folder.h"

namespace jointer {

// Whether a rank can read the file as it is. Error (input): it cannot be read.
Result<bool> is_native_file(const std::string& path);

struct ConvertRequest {
  ProgramFiles files;  // may hold {rank}
  std::optional<std::size_t> graph_index;
  Assumptions assumptions;
  std::vector<int> ranks;         // that will read them
  const Graph* opened = nullptr;  // what the files hold, if they are the same for all ranks
  std::string name;               // of what is written: `name`.json, or a file a rank
};

// The files themselves if all of them are native, else native captures of them in `folder`. Error
// (input, usage): as open_graph.
Result<ProgramFiles> native_files(const ConvertRequest& request, const TemporaryFolder& folder);

}  // namespace jointer
