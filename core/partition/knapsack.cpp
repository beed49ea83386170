// Solves 0-1 knapsacks as torch 2.11's solvers do
// (torch/_functorch/_activation_checkpointing/knapsack.py, knapsack_evaluator.py).
//
// Terms
//   quantum  1/10000. dp and sliding Hirschberg round weights and the budget to whole quanta, half
//            to even, and add values as 32-bit floats. Rounding and precision decide which of
//            several equal sets is selected, so both follow torch exactly.
//   table    of dp: the best value by number of items and capacity. Only its last row is kept, and
//            one byte per cell: whether the item changed the cell, which is all that backtracking
//            needs.
//
// Solvers
//   dp                  adds items one at a time; backtracking from the full capacity saves
//                       an item where it changed the cell.
//   greedy              visits the items by value per weight, largest first and ties by index, and
//                       saves each one that still fits.
//   sliding_hirschberg  computes the best values of both halves of the items by capacity, splits
//                       the capacity where their sum is largest (the first such point), and solves
//                       each half for its share. Needs only single rows of the table in memory.
//   knee_point          runs dp for 100 budgets from 0.001 to the given one; scales saved and
//                       recomputed totals to 0..1; returns dp's answer for the budget nearest to
//                       the origin. torch calls it dynamic_memory_budget_dp.
//
// Cost: dp is items x capacity in time and bytes; Hirschberg takes twice the time and three rows;
// greedy is n log n; knee_point computes one table to find its budget, where torch computes a
// hundred, as the table for the largest capacity contains the answers for all smaller ones; like
// torch, it then runs dp once more. BudgetRounding::within runs a solver again if its set does not
// fit.
//
// Deviations:
//   - greedy raises ZeroDivisionError in torch if a weight is zero. Here such items come first,
//     since saving them costs nothing.
//   - knee_point divides by zero in torch if the items have no weight or no value. Here it uses the
//     given budget, as torch does if all budgets give the same result.
//   - knee_point sums all weights in torch in the order of a set, which differs from run to run. If
//     two budgets are equally near to the origin, rounding decides between them. Here, the weights
//     are summed in the order of the items.
//   - torch's sets can exceed the budget: by rounding; in Hirschberg because the first half of the
//     items gets one quantum too many; and in knee_point because a budget under 0.001 may be raised
//     to 0.001. BudgetRounding::torch returns those sets. BudgetRounding::within returns the same
//     set if it fits; otherwise, the solver's set with weights rounded up and the budget rounded
//     down (for Hirschberg, also without the spare quantum), filled up by value per weight.
//   - Capacities beyond the weight of all items are not tabulated: nothing changes there.

#include "core/partition/knapsack.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/base/counted.h"

namespace jointer {
namespace {

constexpr double kQuanta = 10000;
constexpr std::int64_t kTooMany = std::int64_t{1} << 40;     // quanta: heavier than any capacity
constexpr std::size_t kLargestTable = std::size_t{1} << 32;  // cells
constexpr std::int64_t kLargestRow = std::int64_t{1} << 30;
constexpr std::size_t kKneeBudgets = 100;
constexpr double kKneeStart = 0.001;

std::int64_t whole_quanta(double rounded) {
  return rounded >= static_cast<double>(kTooMany) ? kTooMany : static_cast<std::int64_t>(rounded);
}
// Rounds half to even, as Python does; this is the default rounding mode.
std::int64_t quanta(double fraction) {
  return whole_quanta(std::nearbyint(fraction * kQuanta));
}

// Items with integer weights.
struct Quantized {
  std::vector<std::int64_t> weights;
  std::vector<float> values;
  std::int64_t capacity = 0;

  [[nodiscard]] std::size_t size() const { return weights.size(); }
};

std::int64_t capped(std::int64_t capacity, std::span<const std::int64_t> weights) {
  std::int64_t all = 0;
  for (const std::int64_t w : weights) {
    all += w;
    if (all >= capacity) return capacity;
  }
  return all;
}

Quantized quantize(const Knapsack& items, double budget, bool up) {
  Quantized q;
  for (const double w : items.weights)
    q.weights.push_back(up ? whole_quanta(std::ceil(w * kQuanta)) : quanta(w));
  q.values.assign(items.values.begin(), items.values.end());
  q.capacity = capped(up ? whole_quanta(std::floor(budget * kQuanta)) : quanta(budget), q.weights);
  return q;
}

Result<void> check(const Knapsack& items, double budget) {
  if (items.weights.size() != items.values.size())
    return fail(Error::Kind::usage, "the knapsack has {} but {}",
                counted(items.weights.size(), "weight"), counted(items.values.size(), "value"));
  const auto good = [](double x) { return std::isfinite(x) && x >= 0; };
  for (std::size_t i = 0; i < items.weights.size(); ++i)
    if (!good(items.weights[i]) || !good(items.values[i]))
      return fail(Error::Kind::usage,
                  "item {} of the knapsack has weight {} and value {}; both must be finite and "
                  "at least 0",
                  i, items.weights[i], items.values[i]);
  if (!good(budget))
    return fail(Error::Kind::usage, "the knapsack's budget is {}; it must be finite and at least 0",
                budget);
  return {};
}

Result<void> check_size(std::int64_t capacity, std::size_t rows) {
  if (capacity < kLargestRow &&
      (static_cast<std::size_t>(capacity) + 1) * std::max<std::size_t>(rows, 1) < kLargestTable)
    return {};
  return fail(Error::Kind::usage,
              "a knapsack of {} quanta is too large; give the weights as fractions of a whole",
              capacity);
}

Result<KnapsackAnswer> solve_dp(const Quantized& q) {
  JOINTER_TRY(const KnapsackTable table, KnapsackTable::make(q.weights, q.values, q.capacity));
  return table.solve_for(table.capacity());
}

// Indices by value per weight, largest first; items without weight come first.
std::vector<std::size_t> by_density(const Knapsack& items) {
  const auto density = [&](std::size_t i) {
    return items.weights[i] > 0 ? items.values[i] / items.weights[i]
                                : std::numeric_limits<double>::infinity();
  };
  std::vector<std::size_t> order(items.weights.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return density(a) > density(b); });
  return order;
}

KnapsackAnswer solve_greedy(const Knapsack& items, double budget) {
  KnapsackAnswer answer;
  double weight = 0;
  for (const std::size_t i : by_density(items)) {
    if (weight + items.weights[i] <= budget) {
      weight += items.weights[i];
      answer.value += items.values[i];
      answer.saved.push_back(i);
    } else {
      answer.recomputed.push_back(i);
    }
  }
  return answer;
}

class SlidingHirschberg {
 public:
  // `spare`: the number of quanta that the first half of the items gets beyond the capacity that
  // the second half leaves: 1, as in torch, or 0.
  SlidingHirschberg(const Quantized& q, std::int64_t spare) : q_(q), spare_(spare) {}

  KnapsackAnswer solve(const std::vector<double>& values) {
    solve_segment(0, q_.size(), q_.capacity);
    std::sort(answer_.saved.begin(), answer_.saved.end());
    std::sort(answer_.recomputed.rbegin(), answer_.recomputed.rend());
    for (const std::size_t i : answer_.saved) answer_.value += values[i];
    return std::move(answer_);
  }

 private:
  // The depth of recursion grows with the logarithm of the number of items.
  void solve_segment(std::size_t first, std::size_t last, std::int64_t capacity) {
    if (first == last) return;
    if (last - first == 1) {
      const bool save = q_.weights[first] <= capacity && q_.values[first] > 0;
      (save ? answer_.saved : answer_.recomputed).push_back(first);
      return;
    }
    const std::size_t middle = first + (last - first) / 2;
    best_values(middle, last, capacity, upper_);
    best_values(first, middle, capacity, lower_);
    const std::size_t columns = upper_.size();
    std::size_t split = 0;
    float best = upper_[0] + lower_[columns - 1];
    for (std::size_t j = 1; j < columns; ++j)
      if (const float sum = upper_[j] + lower_[columns - 1 - j]; sum > best) best = sum, split = j;
    const auto upper = static_cast<std::int64_t>(split);
    const std::int64_t lower = std::min(capacity + spare_ - upper, q_.capacity);
    solve_segment(middle, last, upper);
    solve_segment(first, middle, lower);
  }

  // Computes the best value of the items for each capacity.
  void best_values(std::size_t first, std::size_t last, std::int64_t capacity,
                   std::vector<float>& row) {
    const std::size_t columns = static_cast<std::size_t>(capacity) + 1;
    row.assign(columns, 0);
    next_.resize(columns);
    for (std::size_t i = first; i < last; ++i) {
      const auto weight = static_cast<std::size_t>(q_.weights[i]);
      const float value = q_.values[i];
      if (weight >= columns) continue;
      std::copy_n(row.begin(), weight, next_.begin());
      for (std::size_t j = weight; j < columns; ++j)
        next_[j] = std::max(row[j], row[j - weight] + value);
      row.swap(next_);
    }
  }

  const Quantized& q_;
  std::int64_t spare_;
  std::vector<float> upper_, lower_, next_;
  KnapsackAnswer answer_;
};

Result<KnapsackAnswer> solve_hirschberg(const Quantized& q, const std::vector<double>& values,
                                        std::int64_t spare) {
  JOINTER_CHECK(check_size(q.capacity, 1));
  return SlidingHirschberg(q, spare).solve(values);
}

double range(std::span<const double> values) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return *high - *low;
}

// The budget whose point is nearest to the ideal of saving nothing and recomputing nothing;
// `largest` if all budgets save or recompute the same.
Result<double> knee(const Knapsack& items, double largest) {
  const double all_weight = std::accumulate(items.weights.begin(), items.weights.end(), 0.0);
  const double all_value = std::accumulate(items.values.begin(), items.values.end(), 0.0);
  if (all_weight == 0 || all_value == 0) return largest;
  std::array<double, kKneeBudgets> budgets{}, memory{}, runtime{};
  for (std::size_t i = 0; i < kKneeBudgets; ++i)
    budgets[i] = kKneeStart + static_cast<double>(i) * (largest - kKneeStart) / (kKneeBudgets - 1);
  JOINTER_TRY(const KnapsackTable table,
              KnapsackTable::make(items, std::max(budgets.front(), budgets.back())));
  for (std::size_t i = 0; i < kKneeBudgets; ++i) {
    const KnapsackAnswer answer = table.solve(budgets[i]);
    for (const std::size_t item : answer.saved) memory[i] += items.weights[item];
    for (const std::size_t item : answer.recomputed) runtime[i] += items.values[item];
    memory[i] /= all_weight;
    runtime[i] /= all_value;
  }
  const double memory_range = range(memory), runtime_range = range(runtime);
  if (memory_range == 0 || runtime_range == 0) return largest;
  const double min_memory = *std::min_element(memory.begin(), memory.end());
  const double min_runtime = *std::min_element(runtime.begin(), runtime.end());
  std::array<double, kKneeBudgets> distance{};
  for (std::size_t i = 0; i < kKneeBudgets; ++i) {
    const double x = (runtime[i] - min_runtime) / runtime_range;
    const double y = (memory[i] - min_memory) / memory_range;
    distance[i] = std::pow(x * x + y * y, 0.5);  // as torch writes it
  }
  const auto nearest = std::min_element(distance.begin(), distance.end()) - distance.begin();
  return budgets[static_cast<std::size_t>(nearest)];
}

// `within`: if true, rounds weights up and the budget down. greedy does not round.
Result<KnapsackAnswer> solve_rounded(const Knapsack& items, double budget, KnapsackSolver solver,
                                     bool within) {
  switch (solver) {
    case KnapsackSolver::greedy:
      return solve_greedy(items, budget);
    case KnapsackSolver::sliding_hirschberg:
      return solve_hirschberg(quantize(items, budget, within), items.values, within ? 0 : 1);
    case KnapsackSolver::knee_point:
    case KnapsackSolver::dp:
      break;
  }
  return solve_dp(quantize(items, budget, within));
}

// Saves more items that have a value and still fit, by value per weight, largest first. Added in a
// different order, the weights of greedy's items can exceed the budget by a rounding error; the
// least dense items are then removed until they fit.
void fill_up(const Knapsack& items, double budget, KnapsackAnswer& answer) {
  std::vector<bool> saved(items.weights.size(), false);
  for (const std::size_t i : answer.saved) saved[i] = true;
  const auto weight = [&] {
    double sum = 0;
    for (std::size_t i = 0; i < saved.size(); ++i)
      if (saved[i]) sum += items.weights[i];
    return sum;
  };
  const std::vector<std::size_t> order = by_density(items);
  for (std::size_t k = order.size(); k-- > 0 && weight() > budget;) saved[order[k]] = false;
  double sum = weight();
  for (const std::size_t i : order) {
    if (saved[i] || items.values[i] == 0 || sum + items.weights[i] > budget) continue;
    saved[i] = true;
    if (const double exact = weight(); exact > budget)
      saved[i] = false;
    else
      sum = exact;
  }
  answer.saved.clear();
  answer.recomputed.clear();
  answer.value = 0;
  for (std::size_t i = 0; i < saved.size(); ++i) {
    if (saved[i]) answer.value += items.values[i];
    (saved[i] ? answer.saved : answer.recomputed).push_back(i);
  }
  std::reverse(answer.recomputed.begin(), answer.recomputed.end());
}

}  // namespace

double saved_weight(const Knapsack& items, std::span<const std::size_t> saved) {
  std::vector<std::size_t> sorted(saved.begin(), saved.end());
  std::sort(sorted.begin(), sorted.end());
  double sum = 0;
  for (const std::size_t i : sorted) sum += items.weights[i];
  return sum;
}

Result<KnapsackAnswer> solve_knapsack(const Knapsack& items, double budget, KnapsackSolver solver,
                                      BudgetRounding rounding) {
  JOINTER_CHECK(check(items, budget));
  double solved = budget;
  if (solver == KnapsackSolver::knee_point) {
    JOINTER_TRY(solved, knee(items, budget));
    if (rounding == BudgetRounding::within) solved = std::min(solved, budget);
  }
  JOINTER_TRY(KnapsackAnswer answer, solve_rounded(items, solved, solver, false));
  if (rounding == BudgetRounding::within && saved_weight(items, answer.saved) > budget) {
    JOINTER_TRY(answer, solve_rounded(items, solved, solver, true));
    fill_up(items, solved, answer);
  }
  answer.budget = solved;
  return answer;
}

Result<KnapsackTable> KnapsackTable::make(const Knapsack& items, double largest) {
  JOINTER_CHECK(check(items, largest));
  Quantized q = quantize(items, largest, false);
  return make(std::move(q.weights), q.values, q.capacity);
}

Result<KnapsackTable> KnapsackTable::make(std::vector<std::int64_t> weights,
                                          std::span<const float> values, std::int64_t capacity) {
  JOINTER_CHECK(check_size(capacity, weights.size()));
  const std::size_t columns = static_cast<std::size_t>(capacity) + 1;
  KnapsackTable made(std::move(weights));
  made.changed_.assign(columns * values.size(), 0);
  made.best_.assign(columns, 0);
  std::vector<float> next(columns);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto weight = static_cast<std::size_t>(made.weights_[i]);
    if (weight >= columns) continue;
    const std::vector<float>& row = made.best_;
    const float value = values[i];
    std::copy_n(row.begin(), weight, next.begin());
    std::uint8_t* changed = made.changed_.data() + i * columns;
    for (std::size_t j = weight; j < columns; ++j) {
      next[j] = std::max(row[j], row[j - weight] + value);
      changed[j] = next[j] != row[j] ? 1 : 0;
    }
    made.best_.swap(next);
  }
  return made;
}

KnapsackAnswer KnapsackTable::solve(double budget) const {
  KnapsackAnswer answer = solve_for(std::min(static_cast<std::size_t>(quanta(budget)), capacity()));
  answer.budget = budget;
  return answer;
}

KnapsackAnswer KnapsackTable::solve_for(std::size_t capacity) const {
  KnapsackAnswer answer;
  answer.value = static_cast<double>(best_[capacity]);
  for (std::size_t i = weights_.size(); i-- > 0;) {
    if (changed_[i * best_.size() + capacity] == 0) {
      answer.recomputed.push_back(i);
      continue;
    }
    answer.saved.push_back(i);
    capacity -= static_cast<std::size_t>(weights_[i]);
  }
  std::reverse(answer.saved.begin(), answer.saved.end());
  return answer;
}

Result<KnapsackAnswer> BudgetKnapsack::solve(double budget) {
  if (solver_ != KnapsackSolver::dp) return solve_knapsack(items_, budget, solver_, rounding_);
  if (!table_) {
    JOINTER_TRY(table_, KnapsackTable::make(items_, 1));
  }
  KnapsackAnswer answer = table_->solve(budget);
  if (rounding_ == BudgetRounding::torch || saved_weight(items_, answer.saved) <= budget)
    return answer;
  return solve_knapsack(items_, budget, solver_, rounding_);
}

}  // namespace jointer
