#pragma once

// Decisions: why a pass changed a node or left it unchanged, and the decisions that an edit keeps.

#include <cstddef>
#include <string>
#include <vector>

namespace jointer {

struct Decision {
  // Set by the code that runs passes, unless a pass that runs other passes has already set it.
  // Empty within an edit, because Edit::by names the pass.
  std::string pass;
  std::string node;         // name in edits; empty: the whole graph
  std::string action;       // "moved", "kept", "merged": one word
  std::string reason;       // one sentence
  std::string effect = {};  // set by the code that runs passes (core/pass/effects.h)
  std::string extra = {};   // members of a recipe that this version does not know
  friend bool operator==(const Decision&, const Decision&) = default;
};

// Limits on the decisions that an edit keeps: more than the largest graphs have nodes, but few
// enough that writing a workspace is fast.
inline constexpr std::size_t kMaxDecisions = 100'000;
inline constexpr std::size_t kMaxDecisionBytes = 16 << 20;

// The decisions that an edit keeps: as many as fit, from the start. If some do not fit, a final
// decision gives the number of those left out.
std::vector<Decision> kept_decisions(const std::vector<Decision>& decisions,
                                     std::size_t most = kMaxDecisions,
                                     std::size_t max_bytes = kMaxDecisionBytes);

}  // namespace jointer
