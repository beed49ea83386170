#pragma once

// A joint graph cut in two: what the forward keeps for the backward, and why. What it computes, how
// and after whom is at the top of min_cut.cpp and default_partition.cpp.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/base/watcher.h"
#include "core/graph/graph.h"
#include "core/partition/save_plan.h"

namespace jointer {

enum class Partitioner : std::uint8_t { min_cut, default_partition };

enum class KnapsackSolver : std::uint8_t { dp, greedy, sliding_hirschberg, knee_point };

// torch's solvers round weights to 1/10000 of the whole, so that what they save can take more than
// the budget.
enum class BudgetRounding : std::uint8_t {
  torch,   // what torch saves, also where that is more than the budget
  within,  // the same where it keeps within the budget, else the best that does
};

struct PartitionOptions {
  Partitioner partitioner = Partitioner::min_cut;
  bool ignore_tags = false;
  // torch's activation_memory_budget, 0..1: 1 is the cut alone, 0 saves inputs only.
  double activation_budget = 1.0;
  KnapsackSolver solver = KnapsackSolver::dp;
  BudgetRounding rounding = BudgetRounding::torch;
  // What making a node again costs, for the knapsack; empty: FLOPs, at least one, as torch's
  // "flops" estimator has it.
  std::function<double(NodeId)> recompute_cost;
  // Asked between steps that take some ten milliseconds of a graph of 50,000 nodes.
  Watcher watcher;
};

// Why a forward value is kept or made again.
struct PlanReason {
  enum class Kind : std::uint8_t {
    none,             // the backward does not need it
    tagged,           // MUST_SAVE, MUST_RECOMPUTE and the like
    input,            // it is the graph's own
    cut,              // the cheapest cut passes through it, or beside it
    banned,           // the partitioner may not make it again: `text` says why
    read_by_forward,  // default: it is of the forward, and the backward reads it
    knapsack,         // the budget's solver chose it
    person,           // ticked
    chain,            // what `node` is made again from
    region,           // a region that is made again starts from it
  };
  Kind kind = Kind::none;
  NodeId node;       // banned: the user that is too far or not fusible; chain: what needs it; cut:
                     // of a value made again, the saved value that it is made from, if it is one
  std::string text;  // one sentence for a person
};

struct Partition {
  // The graph as the partitioner saw it, after its clean-up (dead code, common subexpressions),
  // which erases nodes and rewires their readers. Ids are those of the graph that was given.
  Graph joint;
  SavePlan plan;
  std::vector<PlanReason> reasons;  // by node of `joint`
  // The capacity of the cut, of min_cut: what torch's solver minimised.
  std::int64_t cut_capacity = 0;
};

// Error (usage): the graph is no joint graph, it writes in place, or no legal cut or pair exists;
// the sentence names the nodes. Error (cancelled): as `watcher` says.
Result<Partition> partition(const Graph& joint, const PartitionOptions& options = {});

// The pair of that plan: nodes named, ordered and described as torch's extraction leaves them,
// ready to run and to be written; origin and partner are set. `joint`: Partition::joint. Offloaded
// values go to the host at the end of their last use in the forward and come back in the backward.
// `partitioner`: whose way of it; default_partition leaves some dead compute in the backward, and
// the joint graph's order where nothing is tagged for recomputation. Error (usage): the backward
// needs a value that can be neither handed over nor made again, and which; or a call would find
// memory that was written to too early.
Result<Graph> emit_pair(const Graph& joint, const SavePlan& plan,
                        Partitioner partitioner = Partitioner::min_cut);

}  // namespace jointer
