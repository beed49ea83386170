#pragma once

// Determines which calls of a joint graph the forward and the backward run under a save plan, and
// in which order, without building the pair. Does the same for a flat training step (flat_order.h).
// The top of pair_order.cpp states the rules.

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/graph/graph.h"
#include "core/partition/joint_parts.h"
#include "core/partition/offload_transfers.h"
#include "core/partition/offloadable.h"
#include "core/partition/partition.h"
#include "core/partition/save_plan.h"
#include "core/partition/write_order.h"

namespace jointer {

// The position of a node in the order of the joint graph or flat training step, without gaps;
// greater than the positions of its inputs.
using Place = std::uint32_t;

// A call of a flat training step under a plan.
struct StepCall {
  enum class Kind : std::uint8_t {
    original,
    copy,     // a recomputed call
    repeat,   // a view of an offloaded value, repeated on the reloaded value
    offload,  // copies of an offloaded value, and their waits
    offload_wait,
    reload,
    reload_wait,
  };
  Place place = 0;  // of the call; for copies to the host and back: of the value
  Kind kind = Kind::original;
  // The call's position among the step's nodes and the calls inserted for offloaded values; of a
  // recomputed call: that of the original.
  std::uint32_t position = 0;

  [[nodiscard]] bool is_transfer() const { return kind >= Kind::offload; }
};

// The value that a call of a flat training step reads.
struct StepInput {
  enum class Kind : std::uint8_t { original, copy, repeat, reloaded };
  Place place = 0;
  Kind kind = Kind::original;
};

struct PairOrder {
  // The calls and constants of each half, in the half's order. A call that saves the state of its
  // generator occurs three times in the forward: the second and third occurrences read the state
  // and the value from its result.
  std::vector<Place> forward, backward;
  // The values that the plan saves, in the plan's order.
  std::vector<Place> saved, symbols;
  // The values that the plan offloads, in the plan's order, and their copies in each half.
  std::vector<Place> offloaded;
  std::vector<TransferCall> forward_transfers, backward_transfers;
  // A call whose generator state is saved as a tensor of `bytes` on the host. `states` is sorted by
  // position.
  struct State {
    Place call = 0;
    std::int64_t bytes = 0;
  };
  std::vector<State> states;
  // The index of `call` in `states`; nullopt if its state is not saved.
  [[nodiscard]] std::optional<std::size_t> state_of(Place call) const;
  // Indexed by position: true if the backward receives the node's value, as a saved value or as an
  // input that only the backward has.
  std::vector<std::uint8_t> given;

  // --- Flat training steps only ---
  // `forward` holds the calls of the forward, `backward` the recomputed calls and those of the
  // backward; `saved` the values that the backward reads from the forward, and the offloaded
  // values.
  static constexpr std::uint32_t kNever = ~std::uint32_t{0};
  std::vector<StepCall> step;  // all calls, in order
  // Indexed by position: for a recomputed call, the position of the call before which its copy
  // runs, as in StepCall; otherwise kNever.
  std::vector<std::uint32_t> copied_before;
  // Indexed by position. `value_of`: the index in `offloaded`, or kNever. `is_repeated`: true for
  // views that are repeated.
  std::vector<std::uint32_t> value_of;
  std::vector<std::uint8_t> is_repeated;
  // By value: a call whose result also stays live until the copy to the host is done, or kNever.
  std::vector<std::uint32_t> read_last;
};

class FlatOrders;
class OffloadUses;

// The joint graph or the flat training step as dense arrays by position.
class PairOrders {
 public:
  enum Flag : std::uint32_t {
    is_placeholder = 1 << 0,
    is_call = 1 << 1,
    is_getitem = 1 << 2,
    is_copy = 1 << 3,      // aten.copy_, which the reordering keeps
    of_backward = 1 << 4,  // a placeholder that only the backward has, such as a tangent
    is_tangent = 1 << 5,
    only_forward = 1 << 6,   // NodePlaces::must_be_forward
    only_backward = 1 << 7,  // NodePlaces::must_be_backward, or is_late
    has_effect = 1 << 8,     // stays even if nothing reads it
    is_wait = 1 << 9,
    is_symbolic = 1 << 10,  // its value is a symbolic number
    // Neither is nor depends on an of_backward placeholder or an only_backward node. Flat training
    // step: a node of the forward. Never set for the output.
    of_forward = 1 << 11,
    is_start = 1 << 12,     // an asynchronous call, such as the start of a collective
    is_constant = 1 << 13,  // read from the module
    is_functional_collective = 1 << 14,
    is_overtaken = 1 << 15,  // NodePlaces::overtaken_by finds a write
    // Flat training step. in_region: a call in the part of the backward that may recompute values.
    // read_outside: a value that is read by a call outside that part and outside the forward.
    in_region = 1 << 16,
    read_outside = 1 << 17,
    keeps_state = 1 << 18,  // can_keep_state
  };

  // `joint` must outlive this object.
  explicit PairOrders(const Graph& joint, Partitioner partitioner = Partitioner::min_cut);
  ~PairOrders();
  PairOrders(const PairOrders&) = delete;
  PairOrders& operator=(const PairOrders&) = delete;

  [[nodiscard]] const Graph& graph() const { return *graph_; }
  [[nodiscard]] std::size_t size() const { return nodes_.size(); }
  [[nodiscard]] NodeId node(Place place) const { return nodes_[place]; }
  // `node` must be live.
  [[nodiscard]] Place place(NodeId node) const {
    return static_cast<Place>(graph_->position(node));
  }
  [[nodiscard]] bool has(Place place, Flag flag) const { return (flags_[place] & flag) != 0; }
  [[nodiscard]] std::span<const Place> inputs(Place place) const {
    return std::span(inputs_).subspan(first_input_[place],
                                      first_input_[place + 1] - first_input_[place]);
  }
  // The nodes that read an element of a call's tuple.
  [[nodiscard]] std::vector<Place> getitems(Place of) const;
  // The collective that a wait waits for, and the half in which that collective starts. The halves
  // can differ, because the result of a start may be saved for backward. `found` is false if
  // Graph::collective_of_wait would find none in the pair.
  struct StartedIn {
    Place start = 0;
    bool backward = false, found = false;
  };
  [[nodiscard]] StartedIn collective_of_wait(Place wait, bool backward,
                                             std::span<const std::uint8_t> given) const;

  [[nodiscard]] std::span<const Place> forward_outputs() const { return forward_outputs_; }
  [[nodiscard]] std::span<const Place> backward_outputs() const { return backward_outputs_; }

  // The reason why `value` cannot be offloaded, in one sentence; empty if it can be.
  [[nodiscard]] std::string why_not_offloaded(Place value) const;

  [[nodiscard]] bool is_flat() const { return is_flat_; }
  // The rules for flat training steps; null for a joint graph.
  [[nodiscard]] const FlatOrders* flat() const { return flat_.get(); }

  // The order of both halves under a plan. Error (usage): a half needs a value that it neither
  // receives nor can compute (the message names it), the halves would not keep the order of writes
  // (WriteOrder::check), or a value cannot be offloaded. A flat training step has only the last of
  // these errors. Cost: linear in nodes and edges, plus sorting the recomputed calls.
  [[nodiscard]] Result<PairOrder> order(const SavePlan& plan) const;

  // The calls of the backward, not in their final order, if the values in `given` (indexed by
  // position) are available. In the result, `saved` and `symbols` contain the given values that the
  // backward reads, and `forward` is empty. As in torch, which drops unread saved values before it
  // reorders the backward, this includes the inputs of impure calls that min_cut then drops because
  // they precede the first reader of a tangent. For a flat training step, returns its complete
  // order. Error (usage): the backward needs a value that is neither given nor recomputable.
  [[nodiscard]] Result<PairOrder> backward_calls(std::span<const std::uint8_t> given) const;

 private:
  [[nodiscard]] const OffloadUses& offload_uses() const;
  // The calls that a half needs, in the joint graph's order.
  [[nodiscard]] Result<std::vector<Place>> forward_calls(std::span<const Place> outputs) const;
  [[nodiscard]] Result<std::vector<Place>> backward_calls_of(
      std::span<const std::uint8_t> given) const;
  // `available`: the calls that the half can run. `is_there`: indexed by position, true for the
  // values that it then has.
  [[nodiscard]] Result<std::vector<Place>> needed_calls(
      std::span<const Place> outputs, std::span<const Place> available,
      std::span<const std::uint8_t> is_there) const;
  void arrange_backward(PairOrder& order) const;
  [[nodiscard]] std::vector<std::uint8_t> given_by(const SavePlan& plan) const;
  [[nodiscard]] Result<void> add_transfers(const SavePlan& plan, PairOrder& order) const;
  [[nodiscard]] Result<void> check_writes(const PairOrder& order) const;
  void find_states(const SavePlan& plan, PairOrder& order, std::span<const Place> backward) const;
  static void add_state_calls(PairOrder& order);
  void add_node(Place p);
  [[nodiscard]] bool is_forward(Place p) const;
  void find_step_outputs();
  void find_outputs();
  void find_region();
  [[nodiscard]] Error missing(Place output, std::span<const std::uint8_t> is_there) const;

  const Graph* graph_;
  Partitioner partitioner_;
  bool is_flat_ = false;           // a flat training step
  bool any_tags_ = false;          // some node is tagged for recomputation
  bool any_random_again_ = false;  // a random call is tagged for recomputation
  std::vector<NodeId> nodes_;
  std::vector<std::int32_t> layers_;  // by position
  std::vector<std::uint32_t> flags_;
  std::vector<std::uint32_t> first_input_;
  std::vector<Place> inputs_;
  // The calls that the forward can run and the values that it has, under every plan.
  std::vector<Place> forward_available_;
  std::vector<std::uint8_t> is_in_forward_;  // by position
  std::vector<Place> forward_outputs_, backward_outputs_;
  std::vector<Place> backward_inputs_;             // placeholders that only the backward has
  std::vector<std::pair<Place, Place>> getitems_;  // call, its getitem; sorted
  NodePlaces places_;
  WriteOrder writes_;
  Offloadable offloadable_;
  mutable std::once_flag offload_uses_made_;  // by the first plan that offloads
  mutable std::unique_ptr<const OffloadUses> offload_uses_;
  std::unique_ptr<const FlatOrders> flat_;
};

// Visits the operations of a half in order. Calls `call` for a call, `part` for the second and
// third occurrence of a call that saves the state of its generator, and `copy` for a copy to the
// host or back or its wait.
template <class OnCall, class OnPart, class OnCopy>
void walk_half(const PairOrders& orders, const PairOrder& order, bool backward, OnCall call,
               OnPart part, OnCopy copy) {
  const auto& transfers = backward ? order.backward_transfers : order.forward_transfers;
  auto next = transfers.begin();
  std::size_t index = 0;
  Place previous = ~Place{0};
  for (const Place p : backward ? order.backward : order.forward) {
    if (!orders.has(p, PairOrders::is_call)) continue;
    for (; next != transfers.end() && next->before <= index; ++next) copy(*next);
    ++index;
    if (std::exchange(previous, p) == p)
      part(p);
    else
      call(p);
  }
  for (; next != transfers.end(); ++next) copy(*next);
}

}  // namespace jointer
