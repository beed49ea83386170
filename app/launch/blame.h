#pragma once

// Decides which rank is to blame if several make no progress. Ranks at collectives wait for a rank
// that is not at a collective, so they are not to blame. If all ranks are at collectives, but at
// different ones, their collectives do not match.

#include <chrono>
#include <span>
#include <string>

#include "app/launch/place_names.h"

namespace jointer {

struct RankPlace {
  int rank = 0;
  NodePlace place;
  std::chrono::milliseconds silence{0};  // since the rank's last sign of life

  // True if the rank is at a node that does not wait for other ranks.
  [[nodiscard]] bool is_by_itself() const {
    return place.collective.empty() && !place.node.empty();
  }
};

// True if `one` is to blame. `silent`: all ranks that have given no sign of life for too long.
bool is_to_blame(const RankPlace& one, std::span<const RankPlace> silent);

// Describes where other ranks are, for use after "no progress": ", while rank 1 is at all_gather_7:
// the ranks' collectives do not match" or ", where every rank is". Empty if no other rank is known
// to be elsewhere, and not every rank is known to be at the same place.
std::string describe_others(const RankPlace& one, std::span<const RankPlace> all);

}  // namespace jointer
