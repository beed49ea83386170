#pragma once

// Ensures that random calls that run in both halves draw the same numbers. The top of
// random_states.cpp describes how.

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/result.h"
#include "core/graph/graph.h"
#include "core/partition/half.h"
#include "core/partition/part_copy.h"
#include "core/partition/save_plan.h"

namespace jointer {

// A random call that runs in both halves because a tag or the plan requires it to be recomputed.
struct RandomCall {
  NodeId id;
  // If true, the call draws from a generator that the caller holds. If false, the forward saves the
  // generator's state as a tensor of `state_bytes` on the host.
  bool by_generator = false;
  std::int64_t state_bytes = 0;
};

// True for attention without dropout: the operator may draw random numbers, but this call does not.
bool draws_nothing(const Graph& graph, const Node& call);

// True if torch's partitioner treats the call as random. Before torch 2.14, this depends only on
// the operator.
bool is_random_call(const Graph& joint, const Node& call);

// True for a random call whose operator has a known schema: if it runs in the backward too, it can
// receive the generator state that it had in the forward.
bool can_keep_state(const Graph& joint, const Node& call);

// The calls that are tagged for recomputation and can keep their state, sorted by id.
std::vector<NodeId> tagged_to_redraw(const Graph& joint);

// The calls that run in both halves because a tag or the plan requires it and that can keep their
// state, in the order of `backward`, which lists the calls of that half. `in_forward`: indexed by
// node id; true for the calls of the forward.
std::vector<RandomCall> find_random_calls(const Graph& joint, const SavePlan& plan,
                                          const std::vector<bool>& in_forward,
                                          std::span<const NodeId> backward);

class RandomStates {
 public:
  // The halves must still be in the joint graph's order. `joint` must outlive this object.
  RandomStates(const Graph& joint, const SavePlan& plan, const Half& forward, const Half& backward,
               std::span<const NodeId> forward_inputs, std::span<const NodeId> backward_inputs);

  [[nodiscard]] bool has(NodeId id) const { return index_.contains(id); }

  // Adds placeholders for generators, after the inputs of the forward or of the backward.
  void add_generators(PartCopy& copy, HalfKind kind);
  // Adds placeholders for the states that the forward returns, before the tangents.
  void add_states(PartCopy& copy);
  // Copies the call into its half, with its state. In the forward, a call that saves its state also
  // gets a getitem for the state and one for the result.
  void copy_forward(PartCopy& copy, NodeId id);
  void copy_backward(PartCopy& copy, NodeId id);

  // The states that the forward returns after the values that it saves.
  [[nodiscard]] const std::vector<NodeId>& returned_states() const { return returned_; }

 private:
  struct Call {
    RandomCall call;
    NodeId forward_state, backward_state;  // in the pair
    // Names as torch assigns them.
    std::string forward_name, state_name, result_name, backward_name;
  };

  void name_calls(const Half& forward, const Half& backward, std::span<const NodeId> forward_inputs,
                  std::span<const NodeId> backward_inputs);
  // A tensor in `storage` that holds the generator's state.
  [[nodiscard]] static Value state_value(PartCopy& copy, const Call& call, StorageId storage);

  const Graph& joint_;
  std::vector<Call> calls_;
  std::unordered_map<NodeId, std::size_t> index_;
  std::vector<NodeId> returned_;
};

}  // namespace jointer
