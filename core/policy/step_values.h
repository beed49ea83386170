#pragma once

// What becomes of the forward's values in a flat training step once its tags are carried out, told
// of the step as it was tagged, and why. Rules are at the top of step_values.cpp.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/graph/graph.h"
#include "core/partition/plan_what_if.h"

namespace jointer {

enum class StepReason : std::uint8_t {
  untagged,          // the backward reads it, and nothing tags it
  read_by_copies,    // only what is made again reads it, and nothing tags it
  tagged,            // its tag is what became of it
  read_before,       // tagged to be made again, but read before anything is
  stays,             // tagged to go to the host, but it cannot leave the device
  stays_for_copies,  // the same: only what is made again reads it
  carried_out,       // the step does so itself, whatever is tagged now
};
// In a few words, without who tagged it how: "the backward reads it, and nothing tags it".
std::string to_sentence(StepReason reason, MemoryPolicy policy);

// As kept_values has it of the step, but of the tagged graph's node: of a call that ran again in it
// already, that call itself.
struct StepValue : SaveCandidate {
  StepReason reason = StepReason::untagged;
};

// Each value once, in the tagged graph's order. `step`: the same graph with its tags carried out
// (carry_out.h), so that they share the ids of what both have. `kept`: kept_values of `step`. Cost:
// linear in the nodes and their arguments.
std::vector<StepValue> step_values(const Graph& tagged, const Graph& step,
                                   std::span<const SaveCandidate> kept);

}  // namespace jointer
