#pragma once

#include <optional>

#include "core/base/result.h"
#include "core/graph/graph.h"

namespace jointer {

enum class BudgetCoverage : std::uint8_t {
  whole,  // torch's default: every call of the forward must be in a region
  part,   // some calls must be; the budget applies to the whole graph
};

// The activation budget, 0 to 1, that a model's code sets with
// torch.autograd.graph.region_activation_memory_budget; nullopt if no call has one. The top of
// region_budget.cpp states the rules. Error (usage): regions have different budgets, a budget
// covers less than `coverage` requires, or the graph is not a joint graph.
Result<std::optional<double>> region_budget(const Graph& joint,
                                            BudgetCoverage coverage = BudgetCoverage::whole);

}  // namespace jointer
