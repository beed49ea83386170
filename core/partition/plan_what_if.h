#pragma once

// Peak, step time and recomputation of a joint graph under a save plan, without making the pair:
// the same figures that MemoryTimeline and Simulation give of emit_pair's graph. How is described
// at the top of plan_what_if.cpp.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/base/result.h"
#include "core/cost/estimator.h"
#include "core/cost/node_flops.h"
#include "core/graph/graph.h"
#include "core/partition/save_plan.h"
#include "core/schedule/memory_timeline.h"
#include "core/schedule/simulation.h"
#include "core/schedule/what_if.h"

namespace jointer {

struct PlanFigures {
  Figures figures;
  std::int64_t saved_bytes = 0;      // activations on the device between the halves, by storage
  std::int64_t offloaded_bytes = 0;  // of them, those on the host
  std::size_t recomputed = 0;        // calls that run twice
  std::int64_t recompute_ns = 0;
  std::int64_t recompute_flops = 0;
  friend bool operator==(const PlanFigures&, const PlanFigures&) = default;
};

// A forward value that the backward needs, itself or to make others again: a row of the SAC pane.
struct SaveCandidate {
  NodeId node;
  std::int64_t bytes = 0;  // by which the peak's saved activations grow if it is saved: its storage
  // To make it again, with what its chain needs, from what the plan saves.
  std::int64_t recompute_ns = 0;
  std::int64_t recompute_flops = 0;
  std::size_t chain = 0;  // calls that run again for it, itself among them
  Keep keep = Keep::recompute;
};

class PlanWhatIf {
 public:
  // `joint`: as Partition::joint; it must outlive this. `costs`, `flops`: one a node, by id.
  PlanWhatIf(const Graph& joint, std::span<const NodeCost> costs, std::span<const Flops> flops,
             const MemoryOptions& memory = {}, const SimulationOptions& simulation = {});
  ~PlanWhatIf();
  PlanWhatIf(const PlanWhatIf&) = delete;
  PlanWhatIf& operator=(const PlanWhatIf&) = delete;

  // Error (usage): as emit_pair. Cost: linear in the nodes and storages.
  [[nodiscard]] Result<PlanFigures> figures(const SavePlan& plan) const;
  // Live bytes at every point of the pair, as MemoryTimeline::profile has them of emit_pair's
  // graph.
  [[nodiscard]] Result<std::vector<std::int64_t>> profile(const SavePlan& plan) const;
  // What there is to decide about, in program order.
  [[nodiscard]] Result<std::vector<SaveCandidate>> candidates(const SavePlan& plan) const;

  // The plan with other decisions about these nodes. Saved values that the backward then needs no
  // more are dropped; what cannot be made again and is needed by a chain is saved. Error (usage): a
  // node is not a candidate, or cannot be made again; the sentence says why.
  [[nodiscard]] Result<SavePlan> change(const SavePlan& plan, std::span<const NodeId> nodes,
                                        Keep keep) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace jointer
