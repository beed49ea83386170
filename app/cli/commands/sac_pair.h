#pragma once

// A pair's own plan, from which `jointer sac` starts.

#include <optional>
#include <string>
#include <vector>

#include "app/cli/commands/sac_command.h"
#include "core/partition/join_pair.h"
#include "core/partition/pareto.h"

namespace jointer::cli {

struct PairPlan {
  Graph pair;     // as opened
  Graph joint;    // the pair, joined
  SavePlan plan;  // the values of `joint` that the pair saves and offloads
  // The partitioner in whose order the plan has the estimates of the opened pair; if there is none,
  // the first one whose order can be estimated.
  Partitioner partitioner = Partitioner::min_cut;
  // The plan with the estimates of the pair as it is or, if the pair does not describe all calls of
  // the joint graph, with those of the plan in the partitioner's order. Empty if a partitioner
  // decides from scratch.
  ParetoPoint point;
  std::vector<std::string> notes;  // for the user
};

// True if the options make a partitioner decide from scratch, ignoring the pair's own plan.
bool decides_anew(const SacCommand& options, const CLI::App& command);
// Joins the pair. `is_anew`: the result of decides_anew; if true, the plan gets no estimates. Error
// (usage): join_with_plan fails; the message names the file.
Result<PairPlan> join_for_plan(const SacCommand& options, Graph pair, bool is_anew);

}  // namespace jointer::cli
