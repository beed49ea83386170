#pragma once

// Random calls that run in both halves, so that both draw the same numbers. How is at the top of
// random_states.cpp.

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

// A random call that is tagged for recomputation, or that the plan asks it of, and that runs in
// both halves.
struct RandomCall {
  NodeId id;
  // It draws from a generator that the caller keeps; else the forward hands over a tensor of the
  // generator's state, of so many bytes, which lies on the host.
  bool by_generator = false;
  std::int64_t state_bytes = 0;
};

// Attention that drops nothing: such operators draw, this call does not.
bool draws_nothing(const Graph& graph, const Node& call);

// A random call as torch's partitioner has it: before torch 2.14, by the operator alone.
bool is_random_call(const Graph& joint, const Node& call);

// Whether the backward's call can be given the state that the forward's had.
bool can_keep_state(const Graph& joint, const Node& call);

// Such calls as are tagged for recomputation, by id: what a plan of these tags asks.
std::vector<NodeId> tagged_to_redraw(const Graph& joint);

// In the order of `backward`. `in_forward`: by node id. `backward`: what that half runs.
std::vector<RandomCall> find_random_calls(const Graph& joint, const SavePlan& plan,
                                          const std::vector<bool>& in_forward,
                                          std::span<const NodeId> backward);

class RandomStates {
 public:
  // Of a joint graph's halves, before their order changes. All must outlive it.
  RandomStates(const Graph& joint, const SavePlan& plan, const Half& forward, const Half& backward,
               std::span<const NodeId> forward_inputs, std::span<const NodeId> backward_inputs);

  [[nodiscard]] bool has(NodeId id) const { return index_.contains(id); }

  // Placeholders of generators; they follow the forward's inputs, and the backward's.
  void add_generators(PartCopy& copy, HalfKind kind);
  // Placeholders of states that the forward returns; they come before the tangents.
  void add_states(PartCopy& copy);
  // The call in its half, with its state. In the forward, the nodes of a state that it returns.
  void copy_forward(PartCopy& copy, NodeId id);
  void copy_backward(PartCopy& copy, NodeId id);

  // What the forward returns of states, behind the values that it saves.
  [[nodiscard]] const std::vector<NodeId>& returned_states() const { return returned_; }

 private:
  struct Call {
    RandomCall call;
    NodeId forward_state, backward_state;  // in the pair
    // Names that torch gives them.
    std::string forward_name, state_name, result_name, backward_name;
  };

  void name_calls(const Half& forward, const Half& backward, std::span<const NodeId> forward_inputs,
                  std::span<const NodeId> backward_inputs);
  // A tensor of the generator's state, in that storage.
  [[nodiscard]] static Value state_value(PartCopy& copy, const Call& call, StorageId storage);

  const Graph& joint_;
  std::vector<Call> calls_;
  std::unordered_map<NodeId, std::size_t> index_;
  std::vector<NodeId> returned_;
};

}  // namespace jointer
