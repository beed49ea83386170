#include "app/launch/blame.h"

#include <fmt/core.h>

#include <algorithm>

namespace jointer {

bool is_to_blame(const RankPlace& one, std::span<const RankPlace> silent) {
  return one.is_by_itself() ||
         std::ranges::none_of(silent, [](const RankPlace& r) { return r.is_by_itself(); });
}

std::string describe_others(const RankPlace& one, std::span<const RankPlace> all) {
  const auto is_elsewhere = [&](const RankPlace& r) {
    return r.rank != one.rank && !r.place.text().empty() && r.place.text() != one.place.text();
  };
  // A rank that is not waiting for others is the best explanation.
  auto other = std::ranges::find_if(
      all, [&](const RankPlace& r) { return is_elsewhere(r) && r.is_by_itself(); });
  if (other == all.end()) other = std::ranges::find_if(all, is_elsewhere);
  if (other == all.end()) {
    const bool all_here = all.size() > 1 && std::ranges::all_of(all, [&](const RankPlace& r) {
                            return r.place.text() == one.place.text();
                          });
    return all_here && !one.place.text().empty() ? ", where every rank is" : "";
  }
  const bool both_at_collectives =
      !one.place.collective.empty() && !other->place.collective.empty();
  return fmt::format(", while rank {} is at {}{}", other->rank, other->place.text(),
                     both_at_collectives ? ": the ranks' collectives do not match" : "");
}

}  // namespace jointer
