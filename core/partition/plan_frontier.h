#pragma once

// Searches for the best plans of a joint graph or a flat training step: the shortest step at every
// peak. Saving, recomputing and offloading are searched together. The top of plan_frontier.cpp
// describes the search.

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "core/base/result.h"
#include "core/graph/graph.h"
#include "core/partition/plan_descent.h"
#include "core/partition/plan_limit.h"
#include "core/partition/plan_mixing.h"
#include "core/partition/plan_relaxation.h"
#include "core/partition/plan_rules.h"
#include "core/partition/plan_what_if.h"

namespace jointer {

class PlanFrontier {
 public:
  static constexpr std::size_t kEffort = 1500;

  struct Options {
    // The user's, indexed by node id; may be empty. plan_rules.cpp states what they allow.
    std::vector<MemoryPolicy> policies;
    bool offload = true;           // values may be offloaded
    std::size_t effort = kEffort;  // plans to evaluate for one limit; see plan_frontier.cpp
    bool exhaustive = true;        // ends with step 5
    // Called before each plan, on any thread but never concurrently; false ends the search.
    std::function<bool()> go_on;
  };

  // `joint` and `what_if` must outlive this object. `joint` is the graph of `what_if`. Error
  // (usage): no plan is legal.
  static Result<std::unique_ptr<PlanFrontier>> make(const Graph& joint, const PlanWhatIf& what_if,
                                                    Options options);

  // Solves the relaxation for a range of prices, which bounds the step time for every peak. The
  // first call of `best` does this if necessary. If the search is cancelled, keeps the samples that
  // were complete. Error (usage): the tags leave no legal plan.
  Result<void> find_samples();
  // Seeds the search with an already evaluated plan.
  void add(const EvaluatedPlan& plan);
  // The best plan found within the limit or, if none was found, the nearest one. Deterministic:
  // depends only on earlier plans and limits. Error (usage): the tags leave no legal plan, or none
  // was found. Error (cancelled): the search was cancelled before there was a plan.
  Result<EvaluatedPlan> best(const PlanLimit& limit) { return best(limit, options_.effort); }
  // The same with a different effort. If it is less than the effort in the options, step 5 is
  // skipped.
  Result<EvaluatedPlan> best(const PlanLimit& limit, std::size_t effort);

  // The plans found, by ascending peak, without those for which another plan has a peak and a step
  // time that are equal or lower.
  [[nodiscard]] std::vector<EvaluatedPlan> points() const;
  // A lower bound on the step time of all plans that the options allow and whose peak is at most
  // `peak_bytes`; 0 before find_samples.
  [[nodiscard]] std::int64_t bound_ns(std::int64_t peak_bytes) const;

 private:
  // A solution of the relaxation, and its plan.
  struct Sample {
    PlanPrices prices;
    PlanRelaxation::Solution solution;
    std::optional<EvaluatedPlan> plan;
  };
  // Neighbors by price: a plan within the limit, and one beyond it.
  struct Bracket {
    Sample within, beyond;
  };
  // The results of a part of the search that runs at the same time as others.
  struct Results {
    std::vector<PlanRelaxation::Solved> bounds;
    std::vector<EvaluatedPlan> plans;
    std::size_t evaluated = 0;
  };

  PlanFrontier(const Graph& joint, const PlanWhatIf& what_if, PlanRelaxation relaxation,
               Options options);
  // These functions are thread-safe.
  Result<Sample> sample(const PlanPrices& prices, Results& results);
  std::optional<Bracket> bracket(std::size_t series, const PlanLimit& limit, Results& results);
  // Moves both plans of a bracket closer to the limit.
  Bracket narrowed(Bracket bracket, const PlanLimit& limit, Results& results);
  // A bracket at a copy price between those of two others; nullopt if one of them has no copy
  // price, or if none is found.
  std::optional<Bracket> bracket_between(const Bracket& a, const Bracket& b, const PlanLimit& limit,
                                         Results& results);
  // Mixes the plans of a bracket until `results` has `effort` evaluated plans.
  MixedPlan mixed_plan(const Bracket& bracket, const PlanLimit& limit, std::size_t effort,
                       Results& results);
  // The estimates of a plan; nullopt if it is not legal, if the search was cancelled, or if
  // `results` has `effort` evaluated plans.
  std::optional<Figures> judge(std::span<const PlanAction> actions, std::size_t effort,
                               Results& results);
  // Computes the estimates; nullopt if the search was cancelled.
  std::optional<Result<EvaluatedPlan>> evaluate(SavePlan plan, Results& results);
  // Counts a plan to evaluate; returns false if the search was cancelled.
  bool go_on();

  // Adds the results of a part of the search.
  void keep(const Results& results);
  // Evaluates plans between those of brackets of the limit, until `end` plans are evaluated.
  // Returns the brackets, in the order of their copy prices; possibly none if the search was
  // cancelled.
  std::vector<Bracket> mix(const PlanLimit& limit, std::size_t end);
  void tune(const PlanLimit& limit);
  // Runs rounds of random changes, each followed by a descent, until `end` plans are evaluated.
  void random_walk(const PlanLimit& limit, std::size_t end);
  // The plans of the brackets, without duplicates: those beyond the limit, then those within, best
  // first in both groups.
  [[nodiscard]] std::vector<EvaluatedPlan> plans_of(const std::vector<Bracket>& brackets,
                                                    const PlanLimit& limit) const;
  void improve(const EvaluatedPlan& plan, const PlanLimit& limit, bool all);
  void tighten_bound(const EvaluatedPlan& plan, std::int64_t peak_bytes);
  [[nodiscard]] std::shared_ptr<const PlanMoment> moment_of_peak(const SavePlan& plan) const;
  // Computes the estimates and adds the plan; nullopt if the search was cancelled.
  std::optional<Result<EvaluatedPlan>> evaluate(SavePlan plan);
  // The best plan so far; nullptr if there is none.
  [[nodiscard]] const EvaluatedPlan* best_so_far(const PlanLimit& limit) const;

  const Graph& joint_;
  const PlanWhatIf& what_if_;
  PlanRelaxation relaxation_;
  Options options_;
  PlanRules rules_;
  PlanDescent descent_;
  // Indexed by copy price; each list has ascending byte prices.
  std::vector<std::vector<Sample>> samples_;
  std::vector<PlanRelaxation::Solved> bounds_;
  std::map<std::int64_t, EvaluatedPlan> points_;  // by peak; see points()
  std::mutex go_on_mutex_;
  std::atomic<std::size_t> evaluated_ = 0;
  static constexpr std::size_t kNoEnd = std::numeric_limits<std::size_t>::max();
  std::size_t descent_end_ = kNoEnd;  // number of evaluated plans at which a descent ends early
  std::atomic<bool> is_cancelled_ = false;
};

}  // namespace jointer
