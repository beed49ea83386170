#pragma once

#include <optional>

#include "core/base/result.h"
#include "core/graph/graph.h"

namespace jointer {

enum class BudgetCoverage : std::uint8_t {
  whole,  // torch's default: every call of the forward has to be within a region
  part,   // some have to be; the budget is the whole graph's
};

// The activation budget, 0 to 1, that a model's code sets with
// torch.autograd.graph.region_activation_memory_budget; none where no call has one. The rules are
// at the top of region_budget.cpp. Error (usage): regions of different budgets, a budget that
// covers less than `coverage` says, a graph that is no joint graph.
Result<std::optional<double>> region_budget(const Graph& joint,
                                            BudgetCoverage coverage = BudgetCoverage::whole);

}  // namespace jointer
