#pragma once

// Why a pass did something to a node, or did not; and what an edit keeps of it.

#include <cstddef>
#include <string>
#include <vector>

namespace jointer {

struct Decision {
  // Filled in by who runs it, where a pass that runs others does not; not in what an edit keeps:
  // Edit::by says it.
  std::string pass;
  std::string node;         // as edits name it; empty: of the whole graph
  std::string action;       // "moved", "kept", "merged": one word
  std::string reason;       // one sentence
  std::string effect = {};  // filled in by who runs it (core/pass/effects.h)
  std::string extra = {};   // of a recipe: members that this version does not know
  friend bool operator==(const Decision&, const Decision&) = default;
};

// The most that an edit keeps: more than one of every node of the largest graphs, less than would
// make a workspace slow to write.
inline constexpr std::size_t kMostDecisions = 100'000;
inline constexpr std::size_t kMostDecisionBytes = 16 << 20;

// What an edit keeps: the first that fit, and where some do not, one more that says how many.
std::vector<Decision> kept_decisions(const std::vector<Decision>& decisions,
                                     std::size_t most = kMostDecisions,
                                     std::size_t most_bytes = kMostDecisionBytes);

}  // namespace jointer
