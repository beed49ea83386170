#pragma once

#include <cstdint>
#include <functional>

#include "core/base/result.h"
#include "core/policy/operator_list.h"

namespace jointer {

// The distance between a plan and the plan that a list produces. `values` only decides between
// equal `figures`.
struct ListDistance {
  double figures = 0;       // sum of the relative differences in peak and step time
  std::int64_t values = 0;  // bytes of the values that only one of the two plans saves
  friend auto operator<=>(const ListDistance&, const ListDistance&) = default;
};

// Returns the list with the smallest `distance` that a local search finds. `distance` solves the
// graph with a list and fails if the list leads to no plan; it is called at most `max_tries` times.
// If `max_tries` is less than 2, returns the rules that are right for the most bytes. The algorithm
// is at the top of nearest_list.cpp.
SacOptions nearest_list(const std::vector<OperatorRules>& rules,
                        const std::function<Result<ListDistance>(const SacOptions&)>& distance,
                        std::size_t max_tries);

}  // namespace jointer
