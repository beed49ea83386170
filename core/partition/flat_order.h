#pragma once

// Determines the order of a flat training step under a save plan, without changing the graph: the
// order that apply_step_tags (core/policy/apply_step_tags.h) gives it with the tags of the plan.
// The top of flat_order.cpp describes the algorithm.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/graph/users.h"
#include "core/partition/pair_order.h"
#include "core/partition/recomputable.h"
#include "core/partition/step_offload.h"

namespace jointer {

class FlatOrders {
 public:
  // `orders` belongs to a flat training step and must outlive this object.
  explicit FlatOrders(const PairOrders& orders);

  // `given`: indexed by position; nonzero for values that are not recomputed. Values that cannot be
  // recomputed need no mark. Error (usage): an offloaded value is not `given` or cannot be
  // offloaded; the message names it. Cost: linear in nodes and edges, except for sorting.
  [[nodiscard]] Result<PairOrder> order(std::vector<std::uint8_t> given,
                                        std::span<const NodeId> offloaded) const;

  // The value that `reader` reads for the input `input` of its node.
  [[nodiscard]] StepInput input_of(const PairOrder& order, const StepCall& reader,
                                   Place input) const;
  // The start of the collective that a wait waits for; `found` is false if there is none. See
  // Graph::collective_of_wait.
  struct Started {
    StepCall call;
    bool found = false;
  };
  [[nodiscard]] Started collective_of_wait(const PairOrder& order, const StepCall& wait) const;
  // False only for an original call of the forward.
  [[nodiscard]] bool is_backward(const StepCall& call) const {
    return call.kind != StepCall::Kind::original ||
           !orders_.has(call.place, PairOrders::of_forward);
  }

  // The reason why `value` cannot be offloaded in a flat training step, in one sentence; empty if
  // there is none. Does not check the rules of Offloadable.
  [[nodiscard]] std::string why_not_offloaded(Place value) const;

 private:
  class Nodes;

  Result<void> add_offloads(std::span<const NodeId> offloaded, PairOrder& order,
                            Nodes& nodes) const;
  void add_calls(PairOrder& order, const Nodes& nodes) const;
  void find_saved(PairOrder& order) const;

  const PairOrders& orders_;
  Users users_;
  StepOffloads offloads_;
  Recomputable recomputable_;
  std::vector<StepOffload> readers_;  // by position; empty unless a tensor of the forward
  std::vector<bool> owns_storage_;    // by position; an element of a tuple counts as its call
  std::vector<OffloadOrder::Node> offload_nodes_;
  // By position: the value as the graph itself copies it back from the host; kNever if it does not.
  std::vector<std::uint32_t> back_;
  std::vector<Place> all_, region_;  // in order
  std::vector<Place> outputs_;
  bool long_forms_ = true;
};

}  // namespace jointer
