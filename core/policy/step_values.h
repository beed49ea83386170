#pragma once

// Describes what happens to forward values in a flat training step when its tags are applied, and
// why, in terms of the nodes of the tagged step. The rules are at the top of step_values.cpp.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/graph/graph.h"
#include "core/partition/plan_what_if.h"

namespace jointer {

enum class StepReason : std::uint8_t {
  untagged,          // the backward reads it, and it has no tag
  read_by_copies,    // only recomputed calls read it, and it has no tag
  tagged,            // the tag took effect
  read_before,       // tagged for recomputation, but read before anything is recomputed
  stays,             // tagged for offload, but must stay on the device
  stays_for_copies,  // tagged for offload, but only recomputed calls read it
  applied,           // the tagged graph already did this, whatever its tags say
};
// A short reason that does not mention who set the tag, such as "the backward reads it, and it has
// no tag".
std::string to_sentence(StepReason reason, MemoryPolicy policy);

// A row of partitioned_values for the step, with the corresponding node of the tagged graph. If
// that graph already recomputes a value, the node is the recomputed call.
struct StepValue : SaveCandidate {
  StepReason reason = StepReason::untagged;
};

// Lists each value once, in the tagged graph's order. `step`: the same graph with its tags applied
// (apply_step_tags.h), so that common nodes have the same ids. `decided`: its partitioned_values.
// Cost: linear in the nodes and their arguments, plus sorting the values.
std::vector<StepValue> step_values(const Graph& tagged, const Graph& step,
                                   std::span<const SaveCandidate> decided);

}  // namespace jointer
