#pragma once

// Partitions a joint graph: chooses the values that the forward saves for the backward, and gives
// the reasons. The tops of min_cut.cpp and default_partition.cpp describe the algorithms and their
// sources.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/name_table.h"
#include "core/base/result.h"
#include "core/base/watcher.h"
#include "core/graph/graph.h"
#include "core/partition/save_plan.h"

namespace jointer {

enum class Partitioner : std::uint8_t { min_cut, default_partition };

enum class KnapsackSolver : std::uint8_t { dp, greedy, sliding_hirschberg, knee_point };
inline constexpr NameTable<KnapsackSolver, 4> kKnapsackSolvers{
    {{"dp", KnapsackSolver::dp},
     {"greedy", KnapsackSolver::greedy},
     {"sliding_hirschberg", KnapsackSolver::sliding_hirschberg},
     {"knee_point", KnapsackSolver::knee_point}}};
std::string_view to_string(KnapsackSolver solver);
std::optional<KnapsackSolver> parse_knapsack_solver(std::string_view name);
std::vector<std::string> knapsack_solver_names();

// Torch's solvers, except for greedy, can save more than the budget (knapsack.cpp), mostly because
// they round weights to 1/10000.
enum class BudgetRounding : std::uint8_t {
  torch,   // torch's set, even if it exceeds the budget
  within,  // the same set if it fits; otherwise, a set that fits (knapsack.cpp)
};

struct PartitionOptions {
  Partitioner partitioner = Partitioner::min_cut;
  bool ignore_tags = false;
  // For min_cut: torch's activation_memory_budget, from 0 (saves only inputs) to 1 (the cut alone).
  double activation_budget = 1.0;
  KnapsackSolver solver = KnapsackSolver::dp;
  BudgetRounding rounding = BudgetRounding::torch;
  // Polled between the steps of the algorithm.
  Watcher watcher;
};

// The reason why a forward value is saved, offloaded or recomputed.
struct PlanReason {
  enum class Kind : std::uint8_t {
    none,             // the backward does not need it
    tagged,           // MUST_SAVE, MUST_RECOMPUTE and the like
    input,            // an input of the graph
    cut,              // saved: the cheapest cut passes through it; recomputed: it does not
    banned,           // the partitioner may not recompute it: `text` says why
    read_by_forward,  // default: computed in the forward, read by the backward
    knapsack,         // the solver of the budget saved it, or left it to be recomputed
    searched,         // a search for a plan within a limit chose it
    user,             // the user chose it
    chain,            // recomputed because `node`, a call of the backward, reads it
    region,           // a recomputed region, other than its own, reads it
  };
  Kind kind = Kind::none;
  // banned: Ban::by; chain: the call that reads it; cut and knapsack, if recomputed: the saved
  // value that it is computed from. None for other kinds, and if there is no such node.
  NodeId node;
  std::string text;  // one sentence for the user
};

struct Partition {
  // The graph with the tags that the partitioner followed; after min_cut, also without dead code
  // and common subexpressions. Ids are the same as in the given graph.
  Graph joint;
  SavePlan plan;
  std::vector<PlanReason> reasons;  // by node of `joint`
  // min_cut: the capacity of the cut, which torch's solver minimizes; 0 if no cut chose the values.
  std::int64_t cut_capacity = 0;
};

// Error (usage): the graph is not a joint graph, there is no legal cut or pair, or a call writes in
// place other than by copying into an input or setting it (allowed for default_partition if nothing
// is tagged for recomputation); the message names the nodes. Also if min_cut's activation budget is
// not in 0..1, or its knapsack cannot be solved. Error (cancelled): `options.watcher` reports that
// the user has cancelled.
Result<Partition> partition(const Graph& joint, const PartitionOptions& options = {});

// Emits the pair of a plan: named, ordered and described as by torch's extraction, ready to run and
// to write to a file; origin and partner are set. It inherits the joint graph's assumptions
// (inherited_assumptions.h). `joint`: Partition::joint. Offloaded values go to the host after their
// last use in the forward and return in the backward. `partitioner`: the partitioner whose rules
// apply; default_partition leaves some dead compute in the backward, and keeps the joint graph's
// order if nothing is tagged for recomputation. Error (usage): a half needs a value that it neither
// receives nor can compute (the message names it), the halves would not keep the order of writes
// (WriteOrder::check), or a value cannot be offloaded.
Result<Graph> emit_pair(const Graph& joint, const SavePlan& plan,
                        Partitioner partitioner = Partitioner::min_cut);

}  // namespace jointer
