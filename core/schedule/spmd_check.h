#pragma once

// Checks whether the collectives in the programs of several ranks match, so that no rank waits
// forever. The rules are at the top of spmd_check.cpp.

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

// One rank's call at a mismatch. If `node` is none, the rank makes no more calls on the group.
struct SpmdSide {
  int rank = 0;
  NodeId node;
  std::size_t position = 0;  // in the program order
  std::string does;          // "all_gather_into_tensor of bfloat16[2048]"
};

struct SpmdMismatch {
  std::string group;                // its label
  std::vector<std::int32_t> ranks;  // of the group
  std::size_t call = 0;             // index among the group's collectives, from 0
  SpmdSide a, b;
  std::string sentence;
  std::string brief;  // the same without the contents of `a` and `b`, for texts that show these too
};

struct SpmdGroup {
  std::string label;
  std::vector<std::int32_t> ranks;
  std::vector<int> checked;  // the group's ranks that have a program
  std::size_t calls = 0;     // number of collectives of each rank
};

struct SpmdReport {
  std::vector<SpmdGroup> groups;         // groups with at least two programs
  std::optional<SpmdMismatch> mismatch;  // the first in the order of the first rank's program
  std::vector<std::string> notes;        // groups that could not be compared
};

// Error (usage): there are fewer than two ranks, or a rank occurs twice.
Result<SpmdReport> check_spmd(std::span<const RankGraph> programs);

}  // namespace jointer
