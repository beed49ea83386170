#pragma once

// Decisions of passes: why a pass changed a node or left it unchanged. An edit keeps a limited
// number of decisions.

#include <cstddef>
#include <string>
#include <vector>

namespace jointer {

struct Decision {
  // Set by the code that runs passes, unless a pass that runs other passes has already set it.
  // Empty within an edit, because Edit::by names the pass.
  std::string pass;
  std::string node;         // name in edits; empty: the whole graph
  std::string action;       // "moved", "kept", "merged"
  std::string reason;       // one sentence
  std::string effect = {};  // set by the code that runs passes (core/pass/effects.h)
  std::string extra = {};   // members of a recipe that this version does not know
  friend bool operator==(const Decision&, const Decision&) = default;
};

// Limits on the decisions that an edit keeps: enough for one decision per node of the largest
// graphs, but few enough that writing a workspace is fast.
inline constexpr std::size_t kMaxDecisions = 100'000;
inline constexpr std::size_t kMaxDecisionBytes = 16 << 20;

// Returns the decisions that an edit keeps: the first ones, up to the limits, without the names of
// their passes. If any are left out, a final decision gives their number.
std::vector<Decision> kept_decisions(const std::vector<Decision>& decisions,
                                     std::size_t max_count = kMaxDecisions,
                                     std::size_t max_bytes = kMaxDecisionBytes);

}  // namespace jointer
