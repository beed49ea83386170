#pragma once

// Compares a plan with the decisions of other solvers under the same limit, value by value. The top
// of solver_choices.cpp describes the method.

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/base/result.h"
#include "core/graph/graph.h"
#include "core/partition/budget_plans.h"
#include "core/partition/partition.h"
#include "core/partition/plan_relaxation.h"
#include "core/partition/plan_what_if.h"

namespace jointer {

// The solvers' decisions about one value.
struct SolverChoices {
  struct Torch {
    PlanAction action = PlanAction::recompute;
    double budget = 1;  // torch's activation budget
  };
  // nullopt: no budget was found whose plan stays within the limit, or the given one has no plan.
  std::optional<Torch> dp, greedy;
  // nullopt: no plan within the limit was found, or the value is in no storage that the relaxation
  // decides about.
  std::optional<PlanAction> relaxation;
  // If the relaxation saves or offloads the value, its decision flips for peaks below this one. If
  // it recomputes the value, its decision flips for this peak and higher ones. nullopt if no flip
  // was found.
  std::optional<std::int64_t> relaxation_peak_bytes;
  // For a plan found for a torch budget: the nearest budget found at which the decision of its
  // solver (of dp, if that is sliding_hirschberg) flips. It is lower if the value is saved or
  // offloaded, and higher if it is recomputed. nullopt if no flip was found, and for knee_point.
  std::optional<double> other_budget;
};

// The solvers' plans under one limit. Only one thread may use an object at a time.
class SolverComparison {
 public:
  struct Request {
    SavePlan plan;
    PartitionOptions partition;          // if a budget gave the plan: its solver and rounding
    std::optional<double> budget;        // the torch budget that gave the plan
    std::vector<MemoryPolicy> policies;  // the user's, indexed by node id; may be empty
    std::function<bool()> is_cancelled;  // polled during the solves; may be empty
  };

  // `joint` and `what_if` must outlive this object. `joint` is the graph of `what_if`, with its
  // tags. Error (usage): same as emit_pair. Error (cancelled): `is_cancelled` returned true. Cost:
  // up to about 140 cuts, and an evaluation of as many plans.
  static Result<std::unique_ptr<SolverComparison>> make(const Graph& joint,
                                                        const PlanWhatIf& what_if, Request request);

  // `value`: a value of the forward. Error (cancelled): `is_cancelled` returned true. Cost: up to
  // 20 cuts.
  Result<SolverChoices> of(NodeId value);

 private:
  struct TorchPlan {
    std::unique_ptr<BudgetPlans> plans;
    double budget = 1;
    std::optional<SavePlan> plan;
  };
  // A solution of the relaxation, and the estimates of its plan.
  struct Relaxed {
    PlanPrices prices;
    std::vector<PlanAction> actions;  // indexed like the relaxation's values
    Figures figures;
  };

  SolverComparison(const Graph& joint, const PlanWhatIf& what_if, Request request)
      : joint_(joint), what_if_(what_if), request_(std::move(request)) {}
  Result<void> solve_torchs();
  Result<void> relax();
  [[nodiscard]] std::optional<Relaxed> relaxed(const PlanPrices& prices) const;
  [[nodiscard]] std::optional<Relaxed> relaxed_within(std::optional<double> copy) const;
  [[nodiscard]] PlanPrices prices(double exponent, std::optional<double> copy) const;
  [[nodiscard]] PlanAction action_under(const SavePlan& plan, NodeId value) const;
  [[nodiscard]] std::optional<std::size_t> relaxed_value(NodeId value) const;
  [[nodiscard]] std::optional<std::int64_t> other_peak(std::size_t value) const;
  [[nodiscard]] std::optional<double> other_budget(NodeId value);
  [[nodiscard]] bool is_cancelled() const {
    return request_.is_cancelled && request_.is_cancelled();
  }

  const Graph& joint_;
  const PlanWhatIf& what_if_;
  Request request_;
  Figures figures_;  // of the compared plan
  TorchPlan dp_, greedy_;
  std::optional<PlanRelaxation> relaxation_;
  std::optional<Relaxed> within_;  // the fastest found within the plan's peak
};

}  // namespace jointer
