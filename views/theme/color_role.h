#pragma once

#include <cstddef>
#include <cstdint>

#include "core/schedule/lifetimes.h"
#include "views/session/snapshot/timeline_data.h"

namespace jointer::views {

// The meanings of colors. A color has the same meaning in all panes, and no two meanings share a
// color.
enum class ColorRole : std::uint8_t {
  // Memory, and what a plan decides about a value.
  parameter,
  buffer,
  input,
  constant,
  optimizer_state,
  gradient,
  tangent,
  saved,
  recomputed,
  offloaded,
  automatic,  // left to the partitioner
  temporary,
  communication,  // memory of collectives
  output,
  // Time, in lanes.
  host,
  matmul,
  attention,
  memory_bound,
  other,
  compiled,
  exposed,  // also what became worse, and warnings
  all_gather,
  reduce_scatter,
  all_reduce,
  all_to_all,
  broadcast,
  // Process groups, in the order of their ids; the colors repeat for further groups.
  group_1,
  group_2,
  group_3,
  group_4,
  group_5,
  // Other meanings.
  forward,
  backward,
  amount,  // an amount of time, bytes or FLOPs; larger amounts get stronger colors
  pipeline,
  baseline,  // the graph as opened
  accent,    // the selection, the plan, and what became better
  error,
};
inline constexpr std::size_t kColorRoles = static_cast<std::size_t>(ColorRole::error) + 1;

ColorRole role_of(MemoryCategory category);
ColorRole role_of(ItemColor item);
// `group` must be valid.
ColorRole role_of(GroupId group);

}  // namespace jointer::views
