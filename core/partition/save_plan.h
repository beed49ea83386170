#pragma once

// A save plan: the values that the forward saves for the backward, and where they are kept in
// between.

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/id.h"

namespace jointer {

// How the backward obtains a forward value that it needs.
enum class Keep : std::uint8_t {
  recompute,  // it is freed, and recomputed in the backward
  save,       // it stays on the device
  offload,    // it is copied to the host between forward and backward
};
std::string_view to_string(Keep keep);

// Ids refer to the joint graph.
struct SavePlan {
  // The values that the forward saves, including inputs of the graph, in the order of the forward's
  // outputs. Everything else that the backward needs is recomputed from these values.
  std::vector<NodeId> saved;
  // The sizes that the forward saves; its outputs list them after the values.
  std::vector<NodeId> saved_symbols;
  // The values among `saved` that are offloaded to the host, sorted by id.
  std::vector<NodeId> offloaded;
  // Random calls to recompute as if tagged, sorted by id: if one runs in both halves, the backward
  // draws the same numbers. Calls that the graph tags may be omitted.
  std::vector<NodeId> redrawn = {};

  friend bool operator==(const SavePlan&, const SavePlan&) = default;
};

}  // namespace jointer
