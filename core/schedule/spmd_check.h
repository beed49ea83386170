#pragma once

// Checks that the collectives in the programs of several ranks match; if they do not, ranks can
// hang or compute wrong results. The rules are at the top of spmd_check.cpp.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/graph/graph.h"

namespace jointer {

struct RankGraph {
  int rank = 0;
  const Graph* graph = nullptr;
};

// The call of one rank at a mismatch. If `node` is none, the rank makes no more calls in the group.
struct SpmdSide {
  int rank = 0;
  NodeId node;
  std::size_t position = 0;  // in program order
  std::string does;          // "all_gather_into_tensor of bfloat16[2048]"
};

struct SpmdMismatch {
  std::string group;                // label of the group
  std::vector<std::int32_t> ranks;  // of the group
  std::size_t call = 0;             // index among the collectives of the group, from 0
  SpmdSide a, b;
  std::string sentence;
  // `sentence` without `does` and `position`; equal for a deadlock, whose sentence has neither.
  std::string brief;
};

struct SpmdGroup {
  std::string label;
  std::vector<std::int32_t> ranks;
  std::vector<int> checked;  // the ranks of the group that have a program
  std::size_t calls = 0;     // number of collectives of the first such rank
};

struct SpmdReport {
  std::vector<SpmdGroup> groups;  // groups with collectives and at least two programs
  // The first in program order; a deadlock only if the calls of all groups match.
  std::optional<SpmdMismatch> mismatch;
  std::vector<std::string> notes;  // about groups that could not be compared
};

// Error (usage): there are fewer than two programs, or a rank occurs twice.
Result<SpmdReport> check_spmd(std::span<const RankGraph> programs);

}  // namespace jointer
