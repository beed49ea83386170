#pragma once

// Which of some items to save within a budget: the solvers that torch's activation budget can use.
// How, and where they differ from torch, is described at the top of knapsack.cpp.

#include <cstddef>
#include <span>
#include <vector>

#include "core/base/result.h"
#include "core/partition/partition.h"

namespace jointer {

struct Knapsack {
  // One an item: what it takes of the budget, and what saving it is worth (the time to make it
  // again). Finite, not negative. torch gives weights as fractions of a whole, so that 1 is all.
  std::vector<double> weights, values;
};

struct KnapsackAnswer {
  double value = 0;  // of the saved items, as the solver adds it up
  // Indices, in the order in which torch returns them.
  std::vector<std::size_t> saved, recomputed;
  // The budget that was solved for: what was given, or the knee that knee_point found.
  double budget = 0;
};

// The weights of the saved items, added up by growing index.
double saved_weight(const Knapsack& items, std::span<const std::size_t> saved);

// Error (usage): an item or the budget is negative or not finite, weights and values are not as
// many, or the table would not fit into memory.
Result<KnapsackAnswer> solve_knapsack(const Knapsack& items, double budget, KnapsackSolver solver,
                                      BudgetRounding rounding = BudgetRounding::within);

// The same items under many budgets: torch's dp, with one table for all of them.
class KnapsackTable {
 public:
  // For budgets up to `largest`. Error (usage): as solve_knapsack. Cost: items x the largest budget
  // in quanta, in time and bytes.
  static Result<KnapsackTable> make(Knapsack items, double largest);

  // `budget` <= the largest. With torch's rounding what dp_knapsack returns.
  [[nodiscard]] KnapsackAnswer solve(double budget) const;
  [[nodiscard]] const Knapsack& items() const { return items_; }

 private:
  KnapsackTable() = default;
  Knapsack items_;
  std::vector<std::int64_t> weights_;  // in quanta
  std::size_t columns_ = 0;            // capacities 0 .. columns - 1
  std::vector<std::uint8_t> changed_;  // by item and capacity: the item is worth its place there
  std::vector<float> best_;            // by capacity, of all items
};

}  // namespace jointer
