#pragma once

// What the forward hands to the backward, and what becomes of it on the way.

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/id.h"

namespace jointer {

// What becomes of a forward value that the backward needs.
enum class Keep : std::uint8_t {
  recompute,  // it is freed, and made again in the backward
  save,       // it stays on the device
  offload,    // it spends the time between on the host
};
std::string_view to_string(Keep keep);

// Ids are those of the joint graph.
struct SavePlan {
  // Values that the forward hands over, inputs of the graph among them, in the order of the
  // forward's outputs. What the backward needs and is not here is made again from what is.
  std::vector<NodeId> saved;
  // Sizes that it hands over, behind them.
  std::vector<NodeId> saved_symbols;
  // Those of `saved` that spend the time between on the host, ordered by id.
  std::vector<NodeId> offloaded;
  // Random calls that are asked to be made again, as a tag asks it, ordered by id: where they run
  // in both halves, the backward's draws the same numbers. Those that the graph tags need not be
  // here.
  std::vector<NodeId> redrawn = {};

  friend bool operator==(const SavePlan&, const SavePlan&) = default;
};

}  // namespace jointer
