// Emits the pair of a plan as torch._functorch.partitioners._extract_fwd_bwd_modules and the steps
// after it do.
//
// The forward receives the inputs of JointParts and returns its own outputs, then the saved values,
// then the saved symbols. The backward receives the saved symbols, the saved values, the tangents,
// the seeds of its random operators, and its states (BackwardState). Calls that draw the same
// numbers in both halves add generators or saved states to these lists (random_states.cpp). Values
// to offload are copied to the host and back (add_offload.cpp). Each half runs the calls it needs
// (half.cpp), in the order of backward_order.cpp. Nodes keep their names and descriptions; a saved
// value is a placeholder of the same name in the backward. Each half has its own storages, symbols,
// module stacks and stack traces.
//
// If the joint graph has no partitioner tags, the halves get them from its phases, so that a file
// of the pair still shows what is recomputed.
//
// Cost: linear in the size of the graph.

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/base/json_text.h"
#include "core/graph/complete.h"
#include "core/partition/add_offload.h"
#include "core/partition/backward_order.h"
#include "core/partition/half.h"
#include "core/partition/joint_parts.h"
#include "core/partition/part_copy.h"
#include "core/partition/partition.h"
#include "core/partition/random_states.h"
#include "core/partition/saved_values.h"
#include "core/partition/write_order.h"

namespace jointer {
namespace {

class PairEmitter {
 public:
  PairEmitter(const Graph& joint, const SavePlan& plan, Partitioner partitioner)
      : joint_(joint),
        plan_(plan),
        partitioner_(partitioner),
        places_(joint),
        forward_copies_(joint.node_count()) {}

  Result<Graph> run() {
    JOINTER_TRY(parts_, find_joint_parts(joint_));
    has_partitioner_tags_ = std::ranges::any_of(
        joint_.order(), [&](NodeId id) { return bool(joint_.node(id).partitioner_tag); });
    JOINTER_CHECK(extract());
    arrange();
    JOINTER_CHECK(WriteOrder(joint_).check(forward_.calls, backward_.calls));
    write_forward();
    write_backward();
    const std::string name(joint_.title());
    pair_.set_title(name + suffix());
    JOINTER_CHECK(complete(pair_, joint_));
    link_recomputed();
    JOINTER_CHECK(offload());
    return std::move(pair_);
  }

 private:
  Result<void> extract() {
    std::vector<NodeId> returned = parts_.forward_outputs;
    returned.insert(returned.end(), plan_.saved.begin(), plan_.saved.end());
    returned.insert(returned.end(), plan_.saved_symbols.begin(), plan_.saved_symbols.end());
    JOINTER_TRY(forward_,
                extract_half(joint_, places_, HalfKind::forward, parts_.forward_inputs, returned));
    backward_given_ = backward_inputs(parts_, plan_);
    JOINTER_TRY(backward_, extract_half(joint_, places_, HalfKind::backward, backward_given_,
                                        parts_.backward_outputs));
    return {};
  }

  void arrange() {
    states_.emplace(joint_, plan_, forward_, backward_, parts_.forward_inputs, backward_given_);
    arrange_forward(joint_, partitioner_, forward_);
    arrange_backward(joint_, partitioner_, backward_given_, parts_.tangents, backward_);
  }

  [[nodiscard]] std::string suffix() const {
    return partitioner_ == Partitioner::min_cut ? ".min_cut" : ".default";
  }

  // The descriptors of the joint graph's outputs; not an array if there are none.
  [[nodiscard]] OrderedJson descriptors() const {
    const std::string_view text = joint_.text(joint_.node(joint_.order().back()).desc);
    return OrderedJson::parse(text.begin(), text.end(), nullptr, false);
  }

  [[nodiscard]] std::string forward_descriptors(std::size_t count) const {
    const OrderedJson all = descriptors();
    OrderedJson chosen = OrderedJson::array();
    for (std::size_t i = 0; i < parts_.forward_outputs.size(); ++i)
      chosen.push_back(all.is_array() ? all.at(i)
                                      : OrderedJson{{"type", "PlainAOTOutput"}, {"idx", i}});
    for (std::size_t i = 0; chosen.size() < count; ++i)
      chosen.push_back(OrderedJson{{"type", "SavedForBackwardsAOTOutput"}, {"idx", i}});
    return chosen.dump();
  }

  [[nodiscard]] std::string backward_descriptors() const {
    const OrderedJson all = descriptors();
    if (!all.is_array()) return {};
    OrderedJson chosen = OrderedJson::array();
    for (std::size_t i = parts_.forward_outputs.size(); i < all.size(); ++i)
      chosen.push_back(all[i]);
    return chosen.dump();
  }

  // Derives the node's partitioner tag from its phase if the graph has no partitioner tags.
  void tag(NodeId id) {
    if (has_partitioner_tags_) return;
    Node& node = pair_.node(id);
    node.partitioner_tag =
        pair_.intern(node.phase == Phase::backward ? "is_backward" : "is_forward");
  }

  void write_forward() {
    PartCopy copy(joint_, pair_, CaptureKind::forward,
                  joint_.part(PartId(0)).name + suffix() + ".fw");
    for (const NodeId id : parts_.forward_inputs) tag(copy.copy(id));
    states_->add_generators(copy, HalfKind::forward);
    for (const NodeId id : forward_.calls) {
      if (states_->has(id))
        states_->copy_forward(copy, id);
      else
        copy.copy(id);
      tag(copy.copy_of(id));
    }
    std::vector<NodeId> returned = copies(copy, forward_.outputs);
    const std::vector<NodeId>& states = states_->returned_states();
    returned.insert(returned.end() - std::ssize(plan_.saved_symbols), states.begin(), states.end());
    copy.add_output(joint_.order().back(), returned, forward_descriptors(returned.size()));
    copy.finish_constants();
    for (const NodeId id : joint_.order()) forward_copies_[id.index()] = copy.copy_of(id);
  }

  void write_backward() {
    PartCopy copy(joint_, pair_, CaptureKind::backward,
                  joint_.part(PartId(0)).name + suffix() + ".bw");
    for (const NodeId id : backward_given_) {
      if (!parts_.tangents.empty() && id == parts_.tangents.front()) states_->add_states(copy);
      tag(copy.copy_as_placeholder(id));
    }
    states_->add_generators(copy, HalfKind::backward);
    for (const NodeId id : backward_.calls) {
      if (states_->has(id))
        states_->copy_backward(copy, id);
      else
        copy.copy(id);
      tag(copy.copy_of(id));
    }
    copy.add_output(joint_.order().back(), copies(copy, backward_.outputs), backward_descriptors());
    copy.finish_constants();
    for (const NodeId id : backward_.calls)
      if (parts_.is_forward(id)) again_.emplace_back(copy.copy_of(id), forward_copies_[id.index()]);
  }

  static std::vector<NodeId> copies(const PartCopy& copy, std::span<const NodeId> ids) {
    std::vector<NodeId> found;
    for (const NodeId id : ids) found.push_back(id ? copy.copy_of(id) : NodeId{});
    return found;
  }

  // Sets the origin of each recomputed node to the node of the forward that it repeats.
  void link_recomputed() {
    for (const auto& [again, first] : again_)
      if (pair_.node(again).has(Node::recomputed)) pair_.node(again).origin = first;
  }

  Result<void> offload() {
    std::vector<NodeId> values;
    for (const NodeId id : plan_.offloaded) values.push_back(forward_copies_[id.index()]);
    return add_offload(pair_, values);
  }

  const Graph& joint_;
  const SavePlan& plan_;
  Partitioner partitioner_;
  NodePlaces places_;
  JointParts parts_;
  bool has_partitioner_tags_ = false;
  Half forward_, backward_;
  std::vector<NodeId> backward_given_;
  std::optional<RandomStates> states_;
  Graph pair_;
  std::vector<NodeId> forward_copies_;            // by node of the joint graph
  std::vector<std::pair<NodeId, NodeId>> again_;  // (node in the backward, node in the forward)
};

}  // namespace

Result<Graph> emit_pair(const Graph& joint, const SavePlan& plan, Partitioner partitioner) {
  return PairEmitter(joint, plan, partitioner).run();
}

}  // namespace jointer
