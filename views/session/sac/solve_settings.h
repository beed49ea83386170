#pragma once

// Settings for partitioning a joint graph, and their form as an edit. Solving changes no nodes, but
// the position in the history determines which plan is shown, so solving is an ordinary history
// entry: an edit whose `by` ends with a partitioner, in pipeline syntax:
//
//   min_cut_partition{activation_budget=0.5,ignore_tags=true,solver=greedy}
//   tag_with_memory_policy{policy=full},min_cut_partition
//
// Missing parameters have the defaults of SolveSettings. Does not use Qt.

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
// Display text: "min_cut, activation budget 0.5, tags ignored".
std::string describe(const SolveSettings& settings);
std::string_view to_string(Partitioner partitioner);

// The settings of the partitioner at the end of `by`; nullopt if there is none, or if a parameter
// is invalid.
std::optional<SolveSettings> parse_solve(std::string_view by);
// `by` without the partitioner at its end.
std::string_view without_solve(std::string_view by);
// An edit that changes no nodes and requests a new plan.
Edit solve_edit(const SolveSettings& settings);
// Extends an edit so that it also requests a new plan.
Edit with_solve(Edit edit, const SolveSettings& settings);

}  // namespace jointer::views
