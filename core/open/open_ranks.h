#pragma once

// Opens the captures of several ranks of one program.

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/open/open.h"
#include "core/schedule/spmd_check.h"

namespace jointer {

struct RankFiles {
  // `{rank}` in a path stands for a rank's number; every rank for which one of the files exists is
  // opened, up to the world size if a capture records it.
  std::string path, backward;
  std::optional<std::size_t> index;  // as in OpenRequest
  Assumptions assumptions;
  std::optional<int> rank = {};  // the rank of paths without a pattern; default: the recorded one
};

struct RankProgram {
  int rank = 0;
  std::string path;
  Graph graph;
};

// The programs in the order of the files; those of a pattern by ascending rank. Error (usage):
// neither the request, a capture nor its file name gives the rank, or the last two differ. Error
// (input): no file matches the pattern. Other errors: same as open_graph.
Result<std::vector<RankProgram>> open_ranks(const std::vector<RankFiles>& files);

// The graphs in the form that check_spmd expects. They point into `programs`, which must outlive
// them.
std::vector<RankGraph> rank_graphs(const std::vector<RankProgram>& programs);

}  // namespace jointer
