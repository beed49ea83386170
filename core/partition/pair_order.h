#pragma once

// Which calls a joint graph's forward and backward run under a save plan, and in which order,
// without making the pair. The rules are at the top of pair_order.cpp.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/graph/graph.h"
#include "core/partition/joint_parts.h"
#include "core/partition/offload_transfers.h"
#include "core/partition/partition.h"
#include "core/partition/save_plan.h"
#include "core/partition/write_order.h"

namespace jointer {

// A node's place in the joint graph's order: dense, and its inputs come before it.
using Place = std::uint32_t;

struct PairOrder {
  // What runs or is looked up (calls and constants), in the order of each half. A call that hands
  // the state of its generator over stands three times in the forward: the second and third take
  // the state and the value out of what it returns.
  std::vector<Place> forward, backward;
  // The plan's, in its order.
  std::vector<Place> saved, symbols;
  // The plan's values that go to the host, in its order, and their copies in each half.
  std::vector<Place> offloaded;
  std::vector<TransferCall> forward_transfers, backward_transfers;
  // Calls whose generator's state is handed over, as a tensor on the host of so many bytes; by
  // place.
  struct State {
    Place call = 0;
    std::int64_t bytes = 0;
  };
  std::vector<State> states;
  // Its place among `states`, if it hands one over.
  [[nodiscard]] std::optional<std::size_t> state_of(Place call) const;
  // By place, what the backward is given: saved values and its own inputs.
  std::vector<std::uint8_t> given;
};

// The joint graph as dense arrays by place.
class PairOrders {
 public:
  enum Flag : std::uint16_t {
    is_placeholder = 1 << 0,
    is_call = 1 << 1,
    is_getitem = 1 << 2,
    is_copy = 1 << 3,      // aten.copy_, which the reordering keeps where it stands
    of_backward = 1 << 4,  // a placeholder that only the backward is given: tangents
    is_tangent = 1 << 5,
    only_forward = 1 << 6,   // it writes, and is not the backward's
    only_backward = 1 << 7,  // it writes, and is the backward's, or works on what that wrote
    has_effect = 1 << 8,     // kept where nothing reads it
    is_wait = 1 << 9,
    is_symbolic = 1 << 10,  // its value is a symbolic number
    of_forward = 1 << 11,   // it needs no tangent
    is_start = 1 << 12,     // of a collective
    is_constant = 1 << 13,  // looked up in the module
    is_functional_collective = 1 << 14,
    is_overtaken = 1 << 15,  // the forward writes later to what it works on
  };

  // `joint` must outlive this.
  explicit PairOrders(const Graph& joint, Partitioner partitioner = Partitioner::min_cut);

  [[nodiscard]] const Graph& graph() const { return *graph_; }
  [[nodiscard]] std::size_t size() const { return nodes_.size(); }
  [[nodiscard]] NodeId node(Place place) const { return nodes_[place]; }
  // Of a live node.
  [[nodiscard]] Place place(NodeId node) const {
    return static_cast<Place>(graph_->position(node));
  }
  [[nodiscard]] bool has(Place place, Flag flag) const { return (flags_[place] & flag) != 0; }
  [[nodiscard]] std::span<const Place> inputs(Place place) const {
    return std::span(inputs_).subspan(first_input_[place],
                                      first_input_[place + 1] - first_input_[place]);
  }
  // What is taken from a call that returns several values.
  [[nodiscard]] std::vector<Place> getitems(Place of) const;
  // The collective that a wait in one half waits for, and whether it runs in the backward: a start
  // may be handed over. None: Graph::collective_of_wait of the pair would find none.
  struct StartedIn {
    Place start = 0;
    bool backward = false, found = false;
  };
  [[nodiscard]] StartedIn collective_of_wait(Place wait, bool backward,
                                             std::span<const std::uint8_t> given) const;

  [[nodiscard]] std::span<const Place> forward_outputs() const { return forward_outputs_; }
  [[nodiscard]] std::span<const Place> backward_outputs() const { return backward_outputs_; }

  // Error (usage): the backward needs a value that is neither handed over nor can be made again;
  // which; or a call would find memory that was written to too early. Cost: linear in nodes and
  // edges.
  [[nodiscard]] Result<PairOrder> order(const SavePlan& plan) const;

  // The same where the backward may be given each of `given` (by place), and what it takes of them
  // is what is handed over; `forward` is left empty.
  [[nodiscard]] Result<PairOrder> backward_order(std::span<const std::uint8_t> given) const;

 private:
  [[nodiscard]] Result<void> extract(std::span<const Place> outputs,
                                     std::span<const std::uint8_t> given, bool backward,
                                     std::vector<Place>& calls) const;
  void arrange(std::span<const std::uint8_t> given, std::span<const Place> outputs, bool backward,
               std::vector<Place>& calls) const;
  void drop_unread_collectives(std::span<const Place> outputs, std::vector<Place>& calls) const;
  [[nodiscard]] std::vector<std::uint8_t> given_by(const SavePlan& plan) const;
  [[nodiscard]] Result<void> add_transfers(const SavePlan& plan, PairOrder& order) const;
  void mimic_autograd(std::span<const std::uint8_t> given, std::vector<Place>& calls) const;
  void raise_getitems(std::vector<Place>& calls) const;
  [[nodiscard]] Result<void> check_writes(const PairOrder& order) const;
  void find_states(const SavePlan& plan, PairOrder& order, std::span<const Place> backward) const;
  static void add_state_calls(PairOrder& order);
  [[nodiscard]] Error missing(Place output, std::span<const std::uint8_t> is_there) const;

  const Graph* graph_;
  Partitioner partitioner_;
  bool any_tags_ = false;          // for recomputation
  bool any_random_again_ = false;  // of random calls
  std::vector<NodeId> nodes_;
  std::vector<std::int32_t> layers_;  // by node id
  std::vector<std::uint16_t> flags_;
  std::vector<std::uint32_t> first_input_;
  std::vector<Place> inputs_;
  std::vector<Place> forward_outputs_, backward_outputs_;
  std::vector<Place> backward_inputs_;             // its own, beside what is handed over
  std::vector<std::pair<Place, Place>> getitems_;  // what is taken from, and what takes; sorted
  NodePlaces places_;
  WriteOrder writes_;
};

}  // namespace jointer
