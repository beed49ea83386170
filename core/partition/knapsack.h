#pragma once

// Selects items to save within a budget, with the solvers of torch's activation budget. The top of
// knapsack.cpp describes the solvers and their deviations from torch.

#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/partition/partition.h"

namespace jointer {

struct Knapsack {
  // One per item: its weight, in the unit of the budget, and the benefit of saving it (the cost of
  // recomputing it). Finite and not negative.
  std::vector<double> weights, values;
};

struct KnapsackAnswer {
  double value = 0;  // of the saved items, as the solver sums it
  // Indices, in torch's order.
  std::vector<std::size_t> saved, recomputed;
  // The budget that was solved for: the given one or, with knee_point, the knee; with
  // BudgetRounding::within, at most the given one.
  double budget = 0;
};

// The sum of the saved items' weights, added in the order of their indices.
double saved_weight(const Knapsack& items, std::span<const std::size_t> saved);

// Error (usage): an item or the budget is negative or not finite, the numbers of weights and values
// differ, or the table (for sliding_hirschberg, a row of it) would be too large.
Result<KnapsackAnswer> solve_knapsack(const Knapsack& items, double budget, KnapsackSolver solver,
                                      BudgetRounding rounding = BudgetRounding::within);

// Solves the same items under many budgets: torch's dp, with one table for all of them.
class KnapsackTable {
 public:
  // Builds the table for budgets up to `largest`. Error (usage): same as solve_knapsack. Cost: the
  // number of items times the largest budget in quanta, in time and in bytes.
  static Result<KnapsackTable> make(const Knapsack& items, double largest);

  // The same for weights and capacities in quanta (knapsack.cpp).
  static Result<KnapsackTable> make(std::vector<std::int64_t> weights,
                                    std::span<const float> values, std::int64_t capacity);

  // `budget` must not exceed `largest`. Returns the same answer as torch's dp_knapsack, with
  // torch's rounding.
  [[nodiscard]] KnapsackAnswer solve(double budget) const;
  // The answer for `capacity` quanta, which must not exceed capacity().
  [[nodiscard]] KnapsackAnswer solve_for(std::size_t capacity) const;
  [[nodiscard]] std::size_t capacity() const { return best_.size() - 1; }

 private:
  explicit KnapsackTable(std::vector<std::int64_t> weights) : weights_(std::move(weights)) {}
  std::vector<std::int64_t> weights_;  // in quanta
  std::vector<std::uint8_t> changed_;  // by item and capacity: 1 if the item changes the best value
  std::vector<float> best_;            // by capacity: the best value of all items
};

// A knapsack that is solved under many budgets with the same solver and rounding. The dp solver
// fills one table, for budgets up to 1; if an answer exceeds its budget and the rounding is
// `within`, it solves that budget separately.
class BudgetKnapsack {
 public:
  BudgetKnapsack() = default;
  BudgetKnapsack(Knapsack items, KnapsackSolver solver, BudgetRounding rounding)
      : items_(std::move(items)), solver_(solver), rounding_(rounding) {}

  // `budget` must be in 0..1. Error (usage): same as solve_knapsack.
  Result<KnapsackAnswer> solve(double budget);

 private:
  Knapsack items_;
  KnapsackSolver solver_ = KnapsackSolver::dp;
  BudgetRounding rounding_ = BudgetRounding::torch;
  std::optional<KnapsackTable> table_;  // for the dp solver
};

}  // namespace jointer
