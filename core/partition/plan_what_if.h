#pragma once

// Computes peak memory, step time and recomputation under a save plan without building the
// resulting graph: the estimates that MemoryTimeline and Simulation compute for the pair that
// emit_pair returns or, for a flat training step, for the graph that apply_step_tags makes. The top
// of plan_what_if.cpp describes how.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/cost/estimator.h"
#include "core/cost/node_flops.h"
#include "core/graph/graph.h"
#include "core/partition/partition.h"
#include "core/partition/save_plan.h"
#include "core/schedule/memory_timeline.h"
#include "core/schedule/simulation.h"
#include "core/schedule/what_if.h"

namespace jointer {

struct PlanFigures {
  Figures figures;
  // The sum of the times of all kernels (Simulation::compute_ns).
  std::int64_t compute_ns = 0;
  // Activations that live from the forward to the backward, with the allocator's rounding: those
  // that stay on the device, and those that are offloaded to the host. Each storage counts once; a
  // value that a pair offloads counts with the bytes of its copy. Storages that are live throughout
  // anyway (inputs, constants, results of the forward) do not count as saved. If host memory counts
  // as device memory, `saved_bytes` includes the generator states that a pair saves.
  std::int64_t saved_bytes = 0;
  std::int64_t offloaded_bytes = 0;
  std::size_t recomputed = 0;     // calls that run twice
  std::int64_t recompute_ns = 0;  // their time in the backward, on their streams
  std::int64_t recompute_flops = 0;
  friend bool operator==(const PlanFigures&, const PlanFigures&) = default;
};

struct EvaluatedPlan {
  SavePlan plan;
  PlanFigures figures;
};

// A forward value that the backward needs, directly or to recompute others: a row of the SAC pane.
struct SaveCandidate {
  NodeId node;
  // The bytes needed to save the value: its storages, except those that are live throughout anyway.
  // A storage with saved values counts only for the first of them; a storage without any counts for
  // each recomputed value in it.
  std::int64_t bytes = 0;
  // The cost of recomputing the value from the values that the plan saves, including its chain.
  std::int64_t recompute_ns = 0;
  std::int64_t recompute_flops = 0;
  std::size_t chain = 0;  // calls that run again, including its own; 0 if not recomputable
  PlanAction action = PlanAction::recompute;
};

// The policy that a tag requests; nullopt for MemoryPolicy::none.
std::optional<PlanAction> action_of(MemoryPolicy policy);
// True if a tag allows the action. Preferences allow every action.
bool allows(MemoryPolicy tag, PlanAction action);

// Bytes needed to save the value per microsecond needed to recompute it: the higher, the more
// worthwhile it is to recompute the value. A time of zero counts as one nanosecond.
double bytes_per_us(const SaveCandidate& candidate);

// A plan after applying decisions, and the decisions that could not be applied.
struct PlanChange {
  struct Note {
    NodeId node;
    std::string text;  // the reason: "mul_ writes to one of its inputs, so it must run once"
  };
  SavePlan plan;
  std::vector<Note> refused;  // among the requested nodes
  std::vector<Note> saved;    // others that a chain needs and that cannot be recomputed
};

struct PlanWhatIfOptions {
  TransferCosts transfers;                         // Estimator::transfer_costs
  Partitioner partitioner = Partitioner::min_cut;  // the partitioner that would emit the pair
};

class PlanWhatIf {
 public:
  // `joint`: Partition::joint or a flat training step; must outlive this object. `costs`, `flops`:
  // one per node, by id. `memory` must use the rules for running a graph, since torch's rules do
  // not cover pairs, and round sizes.
  PlanWhatIf(const Graph& joint, std::span<const NodeCost> costs, std::span<const Flops> flops,
             const MemoryOptions& memory = {}, const SimulationOptions& simulation = {},
             const PlanWhatIfOptions& options = {});
  ~PlanWhatIf();
  PlanWhatIf(const PlanWhatIf&) = delete;
  PlanWhatIf& operator=(const PlanWhatIf&) = delete;

  // Error (usage): same as emit_pair. Cost: linear in nodes and storages.
  [[nodiscard]] Result<PlanFigures> figures(const SavePlan& plan) const;
  // The estimates of a plan if its step and peak are at most those of `limits`; otherwise the bound
  // that the plan exceeds, found in a fraction of the time. Error (usage): same as emit_pair.
  enum class Exceeds : std::uint8_t { nothing, step, peak };
  struct Bounded {
    Exceeds exceeds = Exceeds::nothing;
    PlanFigures figures;  // set if nothing is exceeded
  };
  [[nodiscard]] Result<Bounded> figures_within(const SavePlan& plan, const Figures& limits) const;
  // Live bytes at every point of the resulting graph: its MemoryTimeline::profile. Error (usage):
  // same as emit_pair.
  [[nodiscard]] Result<std::vector<std::int64_t>> profile(const SavePlan& plan) const;
  // The bytes that torch's caching allocator reserves for the resulting graph (simulate_reserved);
  // on devices that have none, the peak. Error (usage): same as emit_pair.
  [[nodiscard]] Result<std::int64_t> reserved_bytes(const SavePlan& plan) const;
  // The estimates and the profile, which together cost little more than one of them. Error (usage):
  // same as emit_pair.
  struct Outcome {
    PlanFigures figures;
    std::vector<std::int64_t> profile;
    // Number of steps in the forward; for a flat training step, before the part of the backward
    // that recomputes.
    std::size_t forward_steps = 0;
    // The node that runs at each step of the profile: step i covers the points 1 + 2i and 2 + 2i.
    // For a copy to the host or back, and for its wait, the value that is copied.
    std::vector<NodeId> steps;
    // The calls that run twice, in the backward's order; PlanFigures has their sums.
    struct Recomputed {
      NodeId node;
      std::int64_t ns = 0;  // on its stream
    };
    std::vector<Recomputed> recomputed;
  };
  [[nodiscard]] Result<Outcome> evaluate(const SavePlan& plan) const;

  // The values to decide about under this plan, in program order: saved values except inputs, and
  // recomputed values. Leaves out values that nothing needs under this plan; they may appear once a
  // value computed from them is no longer saved. Error (usage): same as emit_pair.
  [[nodiscard]] Result<std::vector<SaveCandidate>> candidates(const SavePlan& plan) const;
  // The saved values whose storages, or reloaded copies, are on the device at a point of the
  // profile, starting with the best candidates for recomputation. Leaves out values whose storages
  // are live throughout anyway. Error (usage): same as emit_pair.
  [[nodiscard]] Result<std::vector<SaveCandidate>> saved_at(const SavePlan& plan,
                                                            std::size_t point) const;

  // The plan that saves the values in `saved`, offloads those in `offloaded`, recomputes all others
  // that can be recomputed, and saves the rest. Values that the backward does not need are dropped,
  // and decisions that `change` would refuse are ignored. Error (usage): the backward needs a value
  // that can be neither saved nor recomputed.
  [[nodiscard]] Result<SavePlan> plan_of(std::span<const NodeId> saved,
                                         std::span<const NodeId> offloaded) const;

  // The plan after deciding `action` for these nodes. Saved values that the backward no longer
  // needs are dropped; values that a chain needs and that cannot be recomputed are saved. Error
  // (usage): same as plan_of, or the decision is refused for one of the nodes: the message says
  // why.
  [[nodiscard]] Result<SavePlan> change(const SavePlan& plan, std::span<const NodeId> nodes,
                                        PlanAction action) const;
  // The same for as many of the nodes as possible; reports the others. Error (usage): none of them
  // can be changed, or as for plan_of.
  [[nodiscard]] Result<PlanChange> change_all(const SavePlan& plan, std::span<const NodeId> nodes,
                                              PlanAction action) const;
  // Applies the user's policies to a plan that was solved under others: nodes whose tag changed are
  // saved, recomputed or offloaded accordingly; nodes whose tag was removed keep the plan's
  // decision. Returns `base` if nothing is left to decide. Both lists are indexed by node id and
  // hold the tags of the graph as the user sees it, not those of Partition::joint, which a
  // partitioner has settled. Error (usage): same as plan_of.
  [[nodiscard]] Result<PlanChange> apply_policies(const SavePlan& base,
                                                  std::span<const MemoryPolicy> solved,
                                                  std::span<const MemoryPolicy> now) const;

  // Internal to this folder.
  struct State;
  [[nodiscard]] const State& state() const { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

// The tags of a graph, indexed by node id, for apply_policies. Pass the graph as the user sees it,
// not Partition::joint, whose tags a partitioner has settled.
std::vector<MemoryPolicy> policies_of(const Graph& graph);

}  // namespace jointer
