#pragma once

// Describes what happens to the forward's values in a flat training step when its tags are applied,
// and why, by the nodes of the tagged step. The rules are at the top of step_values.cpp.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/graph/graph.h"
#include "core/partition/plan_what_if.h"

namespace jointer {

enum class StepReason : std::uint8_t {
  untagged,          // the backward reads it, and nothing tags it
  read_by_copies,    // only recomputed calls read it, and nothing tags it
  tagged,            // its tag took effect
  read_before,       // tagged for recompute, but read before anything is recomputed
  stays,             // tagged for offload, but it must stay on the device
  stays_for_copies,  // the same, but only recomputed calls read it
  applied,           // the step already does this, whatever the current tags
};
// A short reason, without the origin of the tag: "the backward reads it, and nothing tags it".
std::string to_sentence(StepReason reason, MemoryPolicy policy);

// A row of kept_values for the step, but with the node of the tagged graph. For a call that was
// already recomputed in that graph, the call itself.
struct StepValue : SaveCandidate {
  StepReason reason = StepReason::untagged;
};

// Each value once, in the tagged graph's order. `step`: the same graph with its tags applied
// (apply_step_tags.h), so that common nodes have the same ids. `kept`: kept_values of `step`. Cost:
// linear in the nodes and their arguments.
std::vector<StepValue> step_values(const Graph& tagged, const Graph& step,
                                   std::span<const SaveCandidate> kept);

}  // namespace jointer
