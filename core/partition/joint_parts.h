#pragma once

// Classifies the nodes of a joint graph: inputs, outputs, forward and backward. The top of
// joint_parts.cpp states the rules.

#include <cstdint>
#include <limits>
#include <vector>

#include "core/base/result.h"
#include "core/graph/graph.h"

namespace jointer {

// Determines which half a node can be in.
class NodePlaces {
 public:
  explicit NodePlaces(const Graph& graph);

  // True if the node is tagged as forward, or as backward. If no call of the graph is tagged as
  // forward, phases replace the tags, but the output is never forward.
  [[nodiscard]] bool is_forward(const Node& node) const;
  [[nodiscard]] bool is_backward(const Node& node) const;
  // True if the node must run in this half, because it writes or its partitioner tag says so.
  [[nodiscard]] bool must_be_forward(const Node& node) const;
  [[nodiscard]] bool must_be_backward(const Node& node) const;
  // The first later call that writes to memory that `id` uses, so that `id` cannot run in the
  // backward; none if there is no such call. If `id` is tagged as backward, only calls that must
  // run in the forward count.
  [[nodiscard]] NodeId overtaken_by(NodeId id) const {
    return overtaken_by_.empty() ? NodeId{} : overtaken_by_[id.index()];
  }

  // True if the node uses memory that an earlier call, which must run in the backward, writes to,
  // so the node cannot run in the forward.
  [[nodiscard]] bool is_late(NodeId id) const { return !is_late_.empty() && is_late_[id.index()]; }

  [[nodiscard]] bool is_tangent(const Node& node) const;
  [[nodiscard]] bool is_forward_seed(const Node& node) const;
  [[nodiscard]] bool is_backward_seed(const Node& node) const;
  [[nodiscard]] bool is_backward_state(const Node& node) const;
  // True for a placeholder that is not a tangent or a seed.
  [[nodiscard]] bool is_primal(const Node& node) const;

 private:
  [[nodiscard]] bool names(const Node& node, std::string_view part) const;
  [[nodiscard]] bool has_tag(const Node& node, std::string_view tag) const;

  const Graph& graph_;
  bool any_tags_ = false;             // if false, phases replace the tags
  std::vector<NodeId> overtaken_by_;  // by node; empty if nothing writes
  std::vector<bool> is_late_;
};

struct JointParts {
  static constexpr std::uint32_t kNotForward = std::numeric_limits<std::uint32_t>::max();

  std::vector<NodeId> forward_inputs;  // primals, then seeds of the forward's random operators
  std::vector<NodeId> tangents, backward_seeds;
  std::vector<NodeId> backward_states;  // primals of torch's class BackwardState
  // In the order of the graph's outputs; none for a null.
  std::vector<NodeId> forward_outputs, backward_outputs;

  // Indexed by node id: the node's position among the forward's nodes, including inputs, in program
  // order; kNotForward for all other nodes.
  std::vector<std::uint32_t> forward_position;
  // Tangents, nodes that must be in the backward for another reason, and everything that depends on
  // these.
  std::vector<bool> depends_on_tangent;
  std::vector<bool> feeds_gradient;  // outputs of the backward
  std::vector<bool> is_static;       // parameters and buffers, which are always live

  [[nodiscard]] bool is_forward(NodeId id) const {
    return forward_position[id.index()] != kNotForward;
  }
  // True if any node depends on a tangent or is an output of the backward.
  [[nodiscard]] bool any_backward() const;
};

// True if the value is a number that torch traces as SymInt, SymFloat or SymBool.
bool is_symbol(const Graph& graph, const Node& node);
// True if the value is a SymFloat. Older captures write a SymFloat as an integer whose expression
// cannot be an integer.
bool is_symbolic_float(const Graph& graph, const Node& node);
// True if the node's value is a torch.device (coor.current_device), which cannot be saved.
bool is_device(const Graph& graph, const Node& node);

// The number of outputs that belong to the forward; these come first.
std::size_t forward_output_count(const Graph& joint);

// Error (usage): the graph is not a joint graph.
Result<void> check_joint(const Graph& graph);

// Error (usage): the graph is not a joint graph, or the forward cannot compute one of its outputs
// (extract_half).
Result<JointParts> find_joint_parts(const Graph& joint);

}  // namespace jointer
