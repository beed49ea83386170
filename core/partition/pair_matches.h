#pragma once

// Finds which nodes of a pair's backward have the values of nodes of its forward. The top of
// pair_matches.cpp describes how.

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/graph/graph.h"
#include "core/graph/users.h"
#include "core/partition/write_order.h"

namespace jointer {

class PairMatches {
 public:
  // The keyword argument of graphsafe_run_with_rng_state that is not an argument of the operator.
  static constexpr std::string_view kStateKeyword = "rng_state";

  // A call of the forward that runs through a random state.
  struct Random {
    NodeId call;
    NodeId result;  // the node with the operator's value: the call, or its second element
    NodeId again;   // the call in the backward that draws the same numbers; none if no call does
  };

  // `pair` must be a pair and outlive this object.
  explicit PairMatches(const Graph& pair);
  // Error (usage): same as join_with_plan.
  Result<void> find();

  // The number of the model's outputs, which come before the saved ones.
  [[nodiscard]] std::size_t own_outputs() const { return own_outputs_; }
  // The node whose value `id` has; usually `id` itself.
  [[nodiscard]] NodeId now(NodeId id) const;
  // True for nodes that a joint graph lacks: random states, elements of calls that also return a
  // state, and the copies of offloaded values to and from the host.
  [[nodiscard]] bool is_dropped(NodeId id) const { return is_dropped_[id.index()]; }
  // True if the node becomes a node of the joint graph.
  [[nodiscard]] bool is_own(NodeId id) const {
    return !is_dropped_[id.index()] && stands_for_[id.index()] == id &&
           pair_.node(id).kind != NodeKind::output;
  }
  // True for a call that has to stay in the backward: it draws different numbers, has an effect, or
  // uses memory after a write.
  [[nodiscard]] bool is_late(NodeId id) const { return is_late_[id.index()]; }
  // The calls through random states, in the forward's order.
  [[nodiscard]] const std::vector<Random>& random() const { return random_; }
  // The value that was copied to the host if `saved` is the copy; otherwise none.
  [[nodiscard]] NodeId copied_to_host(NodeId saved) const;
  // True if both halves have a constant of this name, and the two differ, apart from the number of
  // their storage.
  [[nodiscard]] bool constants_differ(std::string_view target) const;
  [[nodiscard]] const Users& users() const { return users_; }
  [[nodiscard]] const WriteOrder& writes() const { return writes_; }

 private:
  // The calls of the backward that copy a value back from the host, and the nodes that have the
  // value.
  struct Reloads {
    std::vector<NodeId> calls, values;
  };

  [[nodiscard]] bool is_call(NodeId id) const { return pair_.node(id).kind == NodeKind::call; }
  [[nodiscard]] std::string_view target(NodeId id) const { return pair_.target(pair_.node(id)); }
  void find_outputs();
  Result<void> find_random_calls();
  [[nodiscard]] std::string generator_number(NodeId id) const;
  Result<void> add_generator_call(NodeId id);
  Result<void> add_saved_state(NodeId id);
  Result<void> add_with_state(NodeId id);
  Result<void> link(std::size_t index, NodeId again);
  [[nodiscard]] Result<void> no_state(NodeId call, NodeId state) const;
  [[nodiscard]] Result<void> check_generators() const;
  Result<void> find_inputs();
  [[nodiscard]] bool is_plain_copy(NodeId id) const;
  [[nodiscard]] DeviceId device_of(NodeId id) const {
    return pair_.single_tensor(pair_.node(id))->device;
  }
  [[nodiscard]] std::vector<NodeId> copies_to_host(NodeId saved) const;
  [[nodiscard]] std::optional<Reloads> reloads_of(NodeId given, DeviceId device) const;
  void undo_offloading();
  [[nodiscard]] bool equal(std::span<const Argument> a, std::span<const Argument> b) const;
  [[nodiscard]] std::vector<Argument> keywords(const Node& call) const;
  [[nodiscard]] bool is_bound(NodeId id) const;
  [[nodiscard]] bool is_overwritten(NodeId first, NodeId again) const;
  [[nodiscard]] NodeId first_of(NodeId id) const;
  Result<void> merge_recomputed();
  Result<void> merge_random(const Random& random);

  const Graph& pair_;
  Users users_;
  WriteOrder writes_;
  std::size_t own_outputs_ = 0;
  std::vector<NodeId> stands_for_;          // by node: the node itself if it has no counterpart
  std::vector<bool> is_dropped_, is_late_;  // by node
  std::vector<Random> random_;
  std::map<std::string, std::size_t, std::less<>> by_generator_;  // by generator number
  std::map<NodeId, std::size_t> random_index_;                    // by call of the backward
  std::map<NodeId, NodeId> host_copies_;                          // by saved copy: the value
};

}  // namespace jointer
