#pragma once

// Joins the halves of a pair into the joint graph from which a partitioner makes such a pair. The
// top of join_pair.cpp describes how.

#include "core/base/result.h"
#include "core/graph/graph.h"
#include "core/partition/save_plan.h"

namespace jointer {

struct JoinedPair {
  Graph joint;             // with the assumptions of the pair
  SavePlan plan;           // of the joint graph: what the pair saves, offloads and redraws
  std::size_t merged = 0;  // number of calls of the backward that repeat calls of the forward
  // Number of calls through random states whose values the pair does not describe. The joint graph
  // has their memory and time, as far as the pair reads their results; the pair lacks both.
  std::size_t undescribed = 0;
};

// emit_pair is the inverse: with the pair's own plan and the partitioner that made the pair, it
// returns a pair with the same calls. Error (usage): the graph is not a pair, or its halves do not
// fit together; the message says where and what to do.
Result<JoinedPair> join_with_plan(const Graph& pair);

}  // namespace jointer
