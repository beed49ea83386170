#pragma once

#include <optional>

#include "core/base/result.h"
#include "core/graph/graph.h"

namespace jointer {

enum class BudgetCoverage : std::uint8_t {
  whole,  // as in torch: every call of the forward must be in a region
  part,   // a part is enough; its budget applies to the whole graph
};

// The activation budget that the model's code sets with
// torch.autograd.graph.region_activation_memory_budget; nullopt if no call has one. It may be
// outside of 0..1, which `partition` refuses. The top of region_budget.cpp states the rules. Error
// (usage): regions have different budgets, the regions cover less than `coverage` requires, or the
// graph is not a joint graph.
Result<std::optional<double>> region_budget(const Graph& joint,
                                            BudgetCoverage coverage = BudgetCoverage::whole);

}  // namespace jointer
