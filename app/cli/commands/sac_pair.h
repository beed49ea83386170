#pragma once

// The plan that a pair has, as the point from which `jointer sac` starts.

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
  SavePlan plan;  // of `joint`: what the pair saves and offloads
  // The partitioner that orders a pair of this plan as this one, or nearest to it.
  Partitioner partitioner = Partitioner::min_cut;
  ParetoPoint point;               // the plan with the estimates of the pair as it is
  std::vector<std::string> notes;  // for the user
};

// True if the options ask a partitioner to decide anew, so that the pair's own plan does not count.
bool decides_anew(const SacCommand& options, const CLI::App& command);
// Joins the pair. Error (usage): same as join_with_plan; the message names the file.
Result<PairPlan> join_for_plan(const SacCommand& options, Graph pair, bool is_anew);

}  // namespace jointer::cli
