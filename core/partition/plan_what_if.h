#pragma once

// Peak, step time and recomputation of a joint graph under a save plan, without making the pair:
// the same figures that MemoryTimeline and Simulation give of emit_pair's graph. How is described
// at the top of plan_what_if.cpp.

#include <cstdint>
#include <memory>
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
  // Activations between the halves, by storage, as the allocator rounds: those that stay on the
  // device, and those that are on the host. What the step holds anyhow (inputs, constants, what the
  // forward returns) is in neither.
  std::int64_t saved_bytes = 0;
  std::int64_t offloaded_bytes = 0;
  std::size_t recomputed = 0;     // calls that run twice
  std::int64_t recompute_ns = 0;  // theirs in the backward, on their streams
  std::int64_t recompute_flops = 0;
  friend bool operator==(const PlanFigures&, const PlanFigures&) = default;
};

// A forward value that the backward needs, itself or to make others again: a row of the SAC pane.
struct SaveCandidate {
  NodeId node;
  // What it takes to save it: of its storages, those that the step does not hold anyhow. Of several
  // saved values in one storage the first has the bytes; beside a saved one others take nothing.
  std::int64_t bytes = 0;
  // To make it again, with what its chain needs, from what the plan saves.
  std::int64_t recompute_ns = 0;
  std::int64_t recompute_flops = 0;
  std::size_t chain = 0;  // calls that run again for it, itself among them; 0: it cannot be
  Keep keep = Keep::recompute;
};

// Bytes that saving it takes for each microsecond that making it again takes: the higher, the
// better it is recomputed. What takes no time counts as a nanosecond.
double bytes_per_us(const SaveCandidate& candidate);

// A plan with other decisions, and what could not be done as it was asked.
struct PlanChange {
  struct Note {
    NodeId node;
    std::string text;  // one sentence: "f3 draws random numbers; it stays saved"
  };
  SavePlan plan;
  std::vector<Note> refused;  // of the nodes that were asked for
  std::vector<Note> saved;    // others, that a chain needs and that cannot be made again
};

struct PlanWhatIfOptions {
  TransferCosts transfers;                         // Estimator::transfer_costs
  Partitioner partitioner = Partitioner::min_cut;  // whose pair emit_pair would make
};

class PlanWhatIf {
 public:
  // `joint`: as Partition::joint; it must outlive this. `costs`, `flops`: one a node, by id. Of the
  // memory's rules those of running a graph: torch's have no pairs.
  PlanWhatIf(const Graph& joint, std::span<const NodeCost> costs, std::span<const Flops> flops,
             const MemoryOptions& memory = {}, const SimulationOptions& simulation = {},
             const PlanWhatIfOptions& options = {});
  ~PlanWhatIf();
  PlanWhatIf(const PlanWhatIf&) = delete;
  PlanWhatIf& operator=(const PlanWhatIf&) = delete;

  // Error (usage): as emit_pair. Cost: linear in the nodes and storages.
  [[nodiscard]] Result<PlanFigures> figures(const SavePlan& plan) const;
  // Live bytes at every point of the pair, as MemoryTimeline::profile has them of emit_pair's
  // graph.
  [[nodiscard]] Result<std::vector<std::int64_t>> profile(const SavePlan& plan) const;
  // Both, for little more than one of them.
  struct Outcome {
    PlanFigures figures;
    std::vector<std::int64_t> profile;
    std::size_t forward_steps = 0;  // calls of the forward
    // What runs at each step of the profile, points 1 + 2 * step and the next; of a copy to the
    // host or back the value that is copied.
    std::vector<NodeId> steps;
  };
  [[nodiscard]] Result<Outcome> evaluate(const SavePlan& plan) const;

  // What there is to decide about under this plan, in program order: what it hands over, inputs
  // left out, and what it makes again. A value that nothing needs under this plan is no candidate;
  // it may become one when what is made from it is no longer saved.
  [[nodiscard]] Result<std::vector<SaveCandidate>> candidates(const SavePlan& plan) const;
  // The saved values whose storages are on the device at a point of the profile, those first that
  // are best recomputed.
  [[nodiscard]] Result<std::vector<SaveCandidate>> saved_at(const SavePlan& plan,
                                                            std::size_t point) const;

  // The plan with other decisions about these nodes. Saved values that the backward then needs no
  // more are dropped; what cannot be made again and is needed by a chain is saved. Error (usage): a
  // node is not a candidate, or cannot be made again; the sentence says why.
  [[nodiscard]] Result<SavePlan> change(const SavePlan& plan, std::span<const NodeId> nodes,
                                        Keep keep) const;
  // The same for as many of the nodes as can be, and what became of the others. Error (usage): none
  // of them can.
  [[nodiscard]] Result<PlanChange> change_all(const SavePlan& plan, std::span<const NodeId> nodes,
                                              Keep keep) const;
  // A person's policies over a plan that was found under others: nodes whose tag changed are saved,
  // recomputed or offloaded as it says; those whose tag went keep the plan's decision. By node id.
  // Without a change it gives back `base`. Both are tags of the graph that was partitioned, as a
  // person sees it, and not those of Partition::joint, which a partitioner settles.
  [[nodiscard]] Result<PlanChange> lay_policies(const SavePlan& base,
                                                std::span<const MemoryPolicy> solved,
                                                std::span<const MemoryPolicy> now) const;

  // Why this call cannot be made again in the backward, even if that is asked of it; empty: it can.
  [[nodiscard]] std::string why_not_recomputed(NodeId node) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// By node id: the tags of a graph, as lay_policies takes them. Partition::joint has others.
std::vector<MemoryPolicy> policies_of(const Graph& graph);

}  // namespace jointer
