#pragma once

// How a joint graph is to be partitioned, as an edit. Solving changes no node, but where a person
// is in the history decides which plan is shown, so it is a step like any other: an edit whose
// `by` ends with a partitioner, as a pipeline names it:
//
//   min_cut_partition{activation_budget=0.5,ignore_tags=true,solver=greedy}
//   tag_with_memory_policy{preset=full},min_cut_partition
//
// What is not said is as PartitionOptions has it. No Qt.

#include <optional>
#include <string>
#include <string_view>

#include "core/edit/edit.h"
#include "core/partition/partition.h"

namespace jointer::views {

struct SolveSettings {
  Partitioner partitioner = Partitioner::min_cut;
  bool ignore_tags = false;
  double activation_budget = 1.0;
  KnapsackSolver solver = KnapsackSolver::dp;
  friend bool operator==(const SolveSettings&, const SolveSettings&) = default;
};

PartitionOptions options_of(const SolveSettings& settings);
std::string solve_text(const SolveSettings& settings);
// For people: "min_cut, activation budget 0.5, tags ignored".
std::string describe(const SolveSettings& settings);
std::string_view to_string(Partitioner partitioner);
std::string_view to_string(KnapsackSolver solver);

// The partitioner that `by` ends with, if it does.
std::optional<SolveSettings> parse_solve(std::string_view by);
// One that changes nothing but asks for a new plan.
Edit solve_edit(const SolveSettings& settings);
// The same edit, and then a new plan.
Edit with_solve(Edit edit, const SolveSettings& settings);

}  // namespace jointer::views
