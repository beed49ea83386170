// knapsack_answers < ROWS: results of the solvers, with torch's rounding, for one problem per line:
// {"weights": [...], "values": [...], "budget": b, "solver": "dp"} gives {"value", "saved",
// "recomputed", "budget"}.

#include <fmt/core.h>

#include <cstdlib>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "core/partition/knapsack.h"

int main() {
  using namespace jointer;
  const std::map<std::string, KnapsackSolver> solvers{
      {"dp", KnapsackSolver::dp},
      {"greedy", KnapsackSolver::greedy},
      {"sliding_hirschberg", KnapsackSolver::sliding_hirschberg},
      {"knee_point", KnapsackSolver::knee_point}};
  for (std::string line; std::getline(std::cin, line);) {
    const auto row = nlohmann::json::parse(line);
    const auto answer = solve_knapsack(
        {row["weights"].get<std::vector<double>>(), row["values"].get<std::vector<double>>()},
        row["budget"].get<double>(), solvers.at(row["solver"].get<std::string>()),
        BudgetRounding::torch);
    if (!answer) {
      fmt::print(stderr, "knapsack_answers: {}\n", answer.error().message);
      return EXIT_FAILURE;
    }
    fmt::print("{}\n", nlohmann::json{{"value", answer->value},
                                      {"saved", answer->saved},
                                      {"recomputed", answer->recomputed},
                                      {"budget", answer->budget}}
                           .dump());
  }
  return EXIT_SUCCESS;
}
