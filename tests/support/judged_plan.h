#pragma once

#include <memory>
#include <vector>

#include "core/partition/partition.h"
#include "core/partition/plan_what_if.h"

namespace jointer::test {

// A joint graph as min_cut left it, and what is needed to judge its plans.
struct Judged {
  Partition partition;
  std::vector<NodeCost> costs;
  std::vector<Flops> flops;
  std::unique_ptr<PlanWhatIf> what_if;
};

// Uses the `simple` estimator. Null if min_cut fails, or if its plan cannot be evaluated.
std::unique_ptr<Judged> judge(const Graph& graph);

// The sample llama_debug_tp2_fsdp2.
const Judged& judged_sample();

}  // namespace jointer::test
