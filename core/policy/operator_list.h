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

// One way to treat the calls of an operator.
struct OperatorRule {
  bool save = false;                  // all of them; otherwise none
  std::optional<EveryNth> every_nth;  // if set, all but every nth
  // Bytes that the rule saves beyond or short of the plan, and bytes of the calls where the two
  // differ.
  std::int64_t more_bytes = 0, wrong_bytes = 0;
};

// The rules for an operator that come nearest to the plan, nearest first: a rule that is right for
// all calls of the operator, if there is one, precedes all others.
struct OperatorRules {
  std::string op;
  std::vector<OperatorRule> rules;
};

// The rules for each operator that computes a result saved by the plan. `joint` has its original
// tags, because FSDP's tags are applied after those of the list, as in upstream. The algorithm is
// at the top of operator_list.cpp.
std::vector<OperatorRules> operator_rules(const Graph& joint, const SavePlan& plan);
// The list for apply_sac with these rules; `chosen`: one index per operator.
SacOptions list_of(const std::vector<OperatorRules>& rules, std::span<const std::size_t> chosen);

// The shortest list of selectors for the memory policy `full`.
std::vector<std::string> selector_list(const Graph& joint, const SavePlan& plan, MemoryPolicy fsdp);

}  // namespace jointer
