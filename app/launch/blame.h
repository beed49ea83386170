#pragma once

// Who keeps whom waiting, of ranks that do not come further. All ranks are looked at together: one
// that is at no collective keeps the others waiting, and they are not to blame; where all are at
// collectives, and these differ, the ranks' collectives do not match.

#include <chrono>
#include <span>
#include <string>

#include "app/launch/place_names.h"

namespace jointer {

struct RankPlace {
  int rank = 0;
  NodePlace place;
  std::chrono::milliseconds silence{0};  // since its last sign of life

  // At a node that waits for no other rank.
  [[nodiscard]] bool is_by_itself() const {
    return place.collective.empty() && !place.node.empty();
  }
};

// Of ranks that have been silent for too long, whether `one` is to blame.
bool is_to_blame(const RankPlace& one, std::span<const RankPlace> silent);

// What another rank does meanwhile, to follow "no progress": ", while rank 1 is at all_gather_7:
// the ranks' collectives do not match". Empty where nothing is known of others.
std::string beside(const RankPlace& one, std::span<const RankPlace> all);

}  // namespace jointer
