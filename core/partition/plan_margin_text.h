#pragma once

// Explains a decision of a plan with its margin, in sentences for the user.

#include <string>
#include <vector>

#include "core/graph/graph.h"
#include "core/partition/plan_margin.h"
#include "core/partition/solver_choices.h"

namespace jointer {

struct MarginLine {
  std::string label;  // "value", "margin", "otherwise", "equal values", "solvers"
  std::string text;   // one or more sentences
};

// `joint`: the graph of the plan. Lines without information are left out.
std::vector<MarginLine> explain_margin(const Graph& joint, const ValueMargin& margin);
// The decisions of the solvers about the value. `budget`: the torch budget that gave the plan;
// nullopt if the plan has none.
MarginLine explain_choices(const SolverChoices& choices, std::optional<double> budget);

// "saved", "recomputed", "offloaded".
std::string_view participle(PlanAction action);
// `word` must begin with a lowercase ASCII letter.
std::string capitalized(std::string_view word);

}  // namespace jointer
