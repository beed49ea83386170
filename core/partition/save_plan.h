#pragma once

// A save plan: the values that the forward saves for the backward, and where they are between the
// two.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/id.h"

namespace jointer {

// How the backward obtains a forward value that it needs.
enum class PlanAction : std::uint8_t {
  recompute,  // freed, and recomputed in the backward
  save,       // stays on the device
  offload,    // copied to the host between forward and backward
};
constexpr std::string_view to_string(PlanAction action) {
  constexpr std::array<std::string_view, 3> kPlanActionNames{"recompute", "save", "offload"};
  return kPlanActionNames[static_cast<std::size_t>(action)];
}

// All ids are those of the joint graph or the flat training step.
struct SavePlan {
  // The values that the forward saves, including inputs of the graph, in the order of the forward's
  // outputs. All other values of the forward that the backward needs are recomputed from them.
  std::vector<NodeId> saved;
  // The symbolic numbers, such as sizes, that the forward saves; they follow the values in its
  // outputs.
  std::vector<NodeId> saved_symbols;
  // The values among `saved` that are offloaded to the host, sorted by id.
  std::vector<NodeId> offloaded;
  // Random calls that count as tagged for recomputation, sorted by id: if such a call runs in both
  // halves, both draw the same numbers. Calls that the graph already tags may be omitted.
  std::vector<NodeId> redrawn = {};

  friend bool operator==(const SavePlan&, const SavePlan&) = default;
};

}  // namespace jointer
