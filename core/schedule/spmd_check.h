#pragma once

// Whether programs of several ranks fit each other: what is asked of their collectives so that none
// waits forever. The rules are at the top of spmd_check.cpp.

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

// What one rank does where two do not meet. Without a node: it calls nothing more on the group.
struct SpmdSide {
  int rank = 0;
  NodeId node;
  std::size_t position = 0;  // in the program order
  std::string does;          // "all_gather_into_tensor of bfloat16[2048]"
};

struct SpmdMismatch {
  std::string group;                // its label
  std::vector<std::int32_t> ranks;  // of the group
  std::size_t call = 0;             // which of the group's collectives, from 0 on
  SpmdSide a, b;
  std::string sentence;
};

struct SpmdGroup {
  std::string label;
  std::vector<std::int32_t> ranks;
  std::vector<int> checked;  // those of them whose programs are at hand
  std::size_t calls = 0;     // of each
};

struct SpmdReport {
  std::vector<SpmdGroup> groups;         // those with two programs or more at hand
  std::optional<SpmdMismatch> mismatch;  // the first in the order of the first rank's program
  std::vector<std::string> notes;        // what could not be compared
};

// Error (usage): less than two ranks, or one twice.
Result<SpmdReport> check_spmd(std::span<const RankGraph> programs);

}  // namespace jointer
