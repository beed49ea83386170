#pragma once

#include <cstdint>
#include <functional>

#include "core/base/result.h"
#include "core/policy/operator_list.h"

namespace jointer {

// The distance between a plan and the plan that a list produces. `values` only breaks ties.
struct ListDistance {
  double figures = 0;       // of peak and step time, each relative to the plan's
  std::int64_t values = 0;  // bytes of the values that only one of the two plans saves
  friend auto operator<=>(const ListDistance&, const ListDistance&) = default;
};

// The list that `distance` finds nearest among small changes of a few lists. `distance` solves with
// a list and fails if the list has no plan; it is called at most `max_tries` times. If that is
// fewer than two, returns the list of the rules that are right for the most bytes. The algorithm is
// at the top of nearest_list.cpp.
SacOptions nearest_list(const std::vector<OperatorRules>& rules,
                        const std::function<Result<ListDistance>(const SacOptions&)>& distance,
                        std::size_t max_tries);

}  // namespace jointer
