#pragma once

// Captures of several ranks of one program.

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/capture/open.h"
#include "core/schedule/spmd_check.h"

namespace jointer {

struct RankFiles {
  // `{rank}` in a path stands for the number of each rank: all whose files are there.
  std::string path, backward;
  std::optional<std::size_t> index;  // as in OpenRequest
  Assumptions assumptions;
};

struct RankProgram {
  int rank = 0;
  std::string path;
  Graph graph;
};

// In the order of the files. Error (usage): a capture does not say which rank it is of, or another
// one than its name. Error (input): as open_graph; no file fits the name.
Result<std::vector<RankProgram>> open_ranks(const std::vector<RankFiles>& files);

// As check_spmd takes them.
std::vector<RankGraph> rank_graphs(const std::vector<RankProgram>& programs);

}  // namespace jointer
