// Compares the solvers with torch's answers and with an exhaustive search, and checks their
// budgets.

#include "core/partition/knapsack.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/support/must.h"
#include "tests/support/paths.h"
#include "tests/support/reference.h"

namespace jointer::test {
namespace {

constexpr KnapsackSolver kSolvers[] = {KnapsackSolver::dp, KnapsackSolver::greedy,
                                       KnapsackSolver::sliding_hirschberg,
                                       KnapsackSolver::knee_point};

KnapsackAnswer solve(const Knapsack& items, double budget, KnapsackSolver solver,
                     BudgetRounding rounding = BudgetRounding::within) {
  return must(solve_knapsack(items, budget, solver, rounding));
}

double value_of(const Knapsack& items, const std::vector<std::size_t>& saved) {
  double sum = 0;
  for (const std::size_t i : saved) sum += items.values[i];
  return sum;
}

bool is_partition(const Knapsack& items, const KnapsackAnswer& answer) {
  std::set<std::size_t> all(answer.saved.begin(), answer.saved.end());
  all.insert(answer.recomputed.begin(), answer.recomputed.end());
  return all.size() == items.weights.size() &&
         answer.saved.size() + answer.recomputed.size() == items.weights.size();
}

// The maximum value of all subsets within the budget.
double best_of_all(const Knapsack& items, double budget) {
  double best = 0;
  for (std::size_t subset = 0; subset < std::size_t{1} << items.weights.size(); ++subset) {
    std::vector<std::size_t> saved;
    for (std::size_t i = 0; i < items.weights.size(); ++i)
      if ((subset >> i & 1) != 0) saved.push_back(i);
    if (saved_weight(items, saved) <= budget) best = std::max(best, value_of(items, saved));
  }
  return best;
}

// --- Comparison with torch ---

struct Row {
  Knapsack items;
  double budget;
  nlohmann::json answers;
};

std::vector<Row> reference_rows() {
  std::vector<Row> rows;
  const nlohmann::json all = load_json(shared_directory() + "/reference/knapsack.json");
  for (const auto& row : all["rows"])
    rows.push_back(
        {{row["weights"].get<std::vector<double>>(), row["values"].get<std::vector<double>>()},
         row["budget"].get<double>(),
         row});
  return rows;
}

// The sets are equal even if the solution is not unique: the order of additions and of the
// backtracking decides.
void expect_as_torch(KnapsackSolver solver, const char* name) {
  std::size_t compared = 0, failed = 0;
  for (const Row& row : reference_rows()) {
    const KnapsackAnswer answer = solve(row.items, row.budget, solver, BudgetRounding::torch);
    const auto& expected = row.answers[name];
    if (expected.contains("error")) {
      // torch divides by zero; here items without weight are saved.
      EXPECT_EQ(expected["error"].get<std::string>().rfind("ZeroDivisionError", 0), 0U);
      for (const std::size_t i : answer.recomputed) EXPECT_GT(row.items.weights[i], 0);
      EXPECT_TRUE(is_partition(row.items, answer));
      ++failed;
      continue;
    }
    EXPECT_EQ(answer.saved, expected["saved"].get<std::vector<std::size_t>>());
    EXPECT_EQ(answer.recomputed, expected["recomputed"].get<std::vector<std::size_t>>());
    const double runtime = expected["runtime"].get<double>();
    EXPECT_NEAR(answer.value, runtime, 1e-5 * std::max(1.0, runtime));
    ++compared;
  }
  EXPECT_EQ(compared + failed, 200U);
  EXPECT_EQ(failed, solver == KnapsackSolver::greedy ? 24U : 0U);
}

TEST(KnapsackReference, DpSavesWhatTorchSaves) {
  JOINTER_NEEDS_SHARED();
  expect_as_torch(KnapsackSolver::dp, "dp_knapsack");
}

TEST(KnapsackReference, GreedySavesWhatTorchSaves) {
  JOINTER_NEEDS_SHARED();
  expect_as_torch(KnapsackSolver::greedy, "greedy_knapsack");
}

TEST(KnapsackReference, SlidingHirschbergSavesWhatTorchSaves) {
  JOINTER_NEEDS_SHARED();
  expect_as_torch(KnapsackSolver::sliding_hirschberg, "dp_knapsack_sliding_hirschberg");
}

// In some of these rows torch exceeds the budget; these solvers do not, and the saved value is
// equal except for rounding.
TEST(KnapsackReference, StaysWithinTheBudgetInEveryRow) {
  JOINTER_NEEDS_SHARED();
  std::size_t too_heavy = 0;
  for (const Row& row : reference_rows())
    for (const KnapsackSolver solver : kSolvers) {
      const KnapsackAnswer torch = solve(row.items, row.budget, solver, BudgetRounding::torch);
      const KnapsackAnswer answer = solve(row.items, row.budget, solver);
      EXPECT_LE(saved_weight(row.items, answer.saved), row.budget);
      EXPECT_TRUE(is_partition(row.items, answer));
      if (saved_weight(row.items, torch.saved) <= row.budget)
        EXPECT_EQ(answer.saved, torch.saved);
      else
        ++too_heavy;
    }
  EXPECT_GT(too_heavy, 0U);
}

// --- Small cases ---

const Knapsack kThree{{0.5, 0.4, 0.3}, {5, 4, 4}};

TEST(Knapsack, DpTakesTheBestPair) {
  const KnapsackAnswer answer = solve(kThree, 0.8, KnapsackSolver::dp);
  EXPECT_EQ(answer.saved, (std::vector<std::size_t>{0, 2}));
  EXPECT_EQ(answer.recomputed, (std::vector<std::size_t>{1}));
  EXPECT_DOUBLE_EQ(answer.value, 9);
}

TEST(Knapsack, GreedyTakesTheHighestDensity) {
  const Knapsack items{{0.6, 0.5, 0.5}, {7, 5, 5}};
  EXPECT_EQ(solve(items, 1, KnapsackSolver::greedy).saved, (std::vector<std::size_t>{0}));
  EXPECT_EQ(solve(items, 1, KnapsackSolver::dp).saved, (std::vector<std::size_t>{1, 2}));
}

TEST(Knapsack, GreedySavesItemsWithoutWeight) {
  const Knapsack items{{0.5, 0, 0.5}, {1, 1, 2}};
  EXPECT_EQ(solve(items, 0.5, KnapsackSolver::greedy).saved, (std::vector<std::size_t>{1, 2}));
}

// Rounding weights down lets torch take slightly more than three thirds.
TEST(Knapsack, RoundingExceedsTheBudgetOnlyIfAsked) {
  const Knapsack items{{0.33334, 0.33334, 0.33334}, {1, 1, 1}};
  EXPECT_EQ(solve(items, 1, KnapsackSolver::dp, BudgetRounding::torch).saved.size(), 3U);
  EXPECT_EQ(solve(items, 1, KnapsackSolver::dp).saved.size(), 2U);
}

TEST(Knapsack, ATableAnswersEveryBudget) {
  auto table = must(KnapsackTable::make(kThree, 1));
  for (int i = 0; i <= 100; ++i) {
    const double budget = i / 100.0;
    EXPECT_EQ(table.solve(budget).saved,
              solve(kThree, budget, KnapsackSolver::dp, BudgetRounding::torch).saved);
  }
}

TEST(Knapsack, HasNoSolutionWithoutItems) {
  for (const KnapsackSolver solver : kSolvers) {
    const KnapsackAnswer answer = solve({}, 0.5, solver);
    EXPECT_TRUE(answer.saved.empty() && answer.recomputed.empty());
  }
}

TEST(Knapsack, RefusesInvalidInput) {
  const auto message = [](const Knapsack& items, double budget) {
    const auto answer = solve_knapsack(items, budget, KnapsackSolver::dp);
    return answer ? std::string() : answer.error().message;
  };
  EXPECT_NE(message({{1}, {}}, 1).find("1 weight "), std::string::npos);
  EXPECT_NE(message({{0.1, -1}, {1, 1}}, 1).find("item 1"), std::string::npos);
  EXPECT_NE(message({{0.1}, {std::nan("")}}, 1).find("item 0"), std::string::npos);
  EXPECT_NE(message({{0.1}, {1}}, -0.5).find("-0.5"), std::string::npos);
  EXPECT_NE(message({{1e9, 1e9}, {1, 1}}, 1.5e9).find("too large"), std::string::npos);
}

// --- Properties ---

Knapsack random_items() {
  const auto size = *rc::gen::inRange<std::size_t>(0, 11);
  // Coarse and fine weights, zeros, and ties.
  const auto weight =
      rc::gen::oneOf(rc::gen::map(rc::gen::inRange(0, 100), [](int i) { return i / 100.0; }),
                     rc::gen::map(rc::gen::inRange(0, 100'000'000), [](int i) { return i / 1e9; }),
                     rc::gen::map(rc::gen::inRange(0, 100), [](int i) { return i / 100'000.0; }));
  const auto value = rc::gen::map(rc::gen::inRange(0, 1000), [](int i) { return i / 10.0; });
  return {*rc::gen::container<std::vector<double>>(size, weight),
          *rc::gen::container<std::vector<double>>(size, value)};
}

double random_budget() {
  return *rc::gen::oneOf(
      rc::gen::map(rc::gen::inRange(0, 100), [](int i) { return i / 100.0; }),
      rc::gen::map(rc::gen::inRange(0, 1'000'000'000), [](int i) { return i / 1e9; }),
      rc::gen::map(rc::gen::inRange(0, 100), [](int i) { return i / 100'000.0; }));
}

RC_GTEST_PROP(KnapsackProperty, NeverExceedsItsBudget, ()) {
  const Knapsack items = random_items();
  const double budget = random_budget();
  for (const KnapsackSolver solver : kSolvers) {
    const KnapsackAnswer answer = solve(items, budget, solver);
    RC_ASSERT(is_partition(items, answer));
    RC_ASSERT(saved_weight(items, answer.saved) <= budget);
    RC_ASSERT(answer.budget <= budget);
  }
}

// No subset is worth more than dp's, except for its quantization: with a budget that is smaller by
// one quantum per item.
RC_GTEST_PROP(KnapsackProperty, DpIsOptimalUpToQuantization, ()) {
  const Knapsack items = random_items();
  const double budget = random_budget();
  const double quanta = 1e-4 * static_cast<double>(items.weights.size() + 1);
  const double min = budget < quanta ? 0 : best_of_all(items, budget - quanta);
  for (const KnapsackSolver solver : {KnapsackSolver::dp, KnapsackSolver::sliding_hirschberg}) {
    const double value = value_of(items, solve(items, budget, solver).saved);
    RC_ASSERT(value >= min - 1e-3);
    RC_ASSERT(value <= best_of_all(items, budget) + 1e-9);
  }
}

RC_GTEST_PROP(KnapsackProperty, ATableEqualsDp, ()) {
  const Knapsack items = random_items();
  const double budget = random_budget();
  auto table = KnapsackTable::make(items, 1);
  RC_ASSERT(table.has_value());
  const KnapsackAnswer expected = solve(items, budget, KnapsackSolver::dp, BudgetRounding::torch);
  const KnapsackAnswer answer = table->solve(budget);
  RC_ASSERT(answer.saved == expected.saved);
  RC_ASSERT(answer.recomputed == expected.recomputed);
}

}  // namespace
}  // namespace jointer::test
