#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/graph/graph.h"

namespace jointer::views {

// How a tensor gets from the forward to the backward.
enum class RungState : std::uint8_t {
  save,       // saved, by its tag or by a partitioner
  recompute,  // recomputed in the backward, by its tag or by a partitioner
  offload,    // tagged to be offloaded to host memory
  automatic,  // saved by default; the partitioner is free to decide
};
inline constexpr std::size_t kRungStates = 4;

// The state that a policy tag requests; nullopt for nodes without a tag.
std::optional<RungState> rung_state(MemoryPolicy policy);

}  // namespace jointer::views
