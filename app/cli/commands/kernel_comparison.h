#pragma once

// The comparison of `jointer kernels --source inductor --against predicted`.

#include "app/cli/commands/options.h"
#include "core/base/result.h"
#include "core/graph/graph.h"

namespace jointer::cli {

// Compares Inductor's answer about `graph`, which is not a pair, with the kernels that are
// predicted for the torch that answered. Returns the member `against` of the output. Error (run):
// same as read_inductor_answer.
Result<Json> compare_with_prediction(const Graph& graph, const Json& answer);

// Prints what compare_with_prediction returned.
void print_comparison(const Json& against);

}  // namespace jointer::cli
