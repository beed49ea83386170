#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/graph/graph.h"
#include "core/partition/save_plan.h"
#include "core/policy/tagging.h"

namespace jointer {

// A rule for the calls of one operator.
struct OperatorRule {
  bool save = false;                  // true: save all calls; false: none
  std::optional<EveryNth> every_nth;  // if set, save all calls but every nth
  // The bytes that the rule saves in excess of the plan (negative if it saves less), and the bytes
  // of the calls about which the two disagree.
  std::int64_t more_bytes = 0, wrong_bytes = 0;
};

// The rules for an operator: those that come nearest to the plan, nearest first, then those that
// save all or none of its calls, unless they are among the nearest. A rule that is right for all
// calls comes before all others.
struct OperatorRules {
  std::string op;
  std::vector<OperatorRule> rules;
};

// Returns the rules for each operator that computes a result saved by the plan. `joint` must have
// its original tags, because FSDP's tags are applied after those of the list, as in upstream. The
// algorithm is at the top of operator_list.cpp.
std::vector<OperatorRules> operator_rules(const Graph& joint, const SavePlan& plan);
// Returns the list for apply_sac with these rules. `chosen`: the index of one rule per operator.
SacOptions list_of(const std::vector<OperatorRules>& rules, std::span<const std::size_t> chosen);

// Returns a short list of selectors with which the memory policy `full` expresses the plan, as far
// as selectors can. The algorithm is at the top of selector_list.cpp.
std::vector<std::string> selector_list(const Graph& joint, const SavePlan& plan, MemoryPolicy fsdp);

}  // namespace jointer
