#pragma once

// `jointer sac --free` and `--budget` with conditions: the shortest list of changes found that
// reduces the peak of the plan to a limit.

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "app/cli/commands/options.h"
#include "core/partition/plan_target.h"
#include "core/policy/ordered_list.h"

namespace jointer::cli {

struct TargetOptions {
  std::string free, by = "tensor";
  std::optional<std::size_t> at_most;
  bool same_in_all_layers = false, no_recompute = false;

  void add_to(CLI::App& command);
  // True if a budget in bytes requests a list rather than the best plan.
  [[nodiscard]] bool has_conditions(const CLI::App& command) const;
  // Error (usage): the value of --free is not a number of bytes.
  [[nodiscard]] Result<std::int64_t> free_bytes() const;
  // Error (usage): the conditions contradict each other.
  [[nodiscard]] Result<PlanTarget> target(const CLI::App& command, bool no_offload) const;
};

struct TargetAnswer {
  PlanTarget target;
  ChangeList list;
  PlanOrder order;  // of the list's plan; without passes, the plan keeps its own order
  Fit best;         // the best plan found for the limit without the conditions

  // True if the list's plan is within the limit in its order.
  [[nodiscard]] bool is_reached() const { return jointer::is_reached(order, target); }
  // The reason why the list's plan is above the limit; empty if it is within it.
  [[nodiscard]] std::string why_not_reached() const;
};

Json to_json(const TargetAnswer& answer, const Graph& graph);
void print_table(const TargetAnswer& answer, const Graph& graph);

}  // namespace jointer::cli
