#pragma once

// Which nodes of a joint graph are inputs, outputs, forward and backward. The rules are at the top
// of joint_parts.cpp.

#include <cstdint>
#include <limits>
#include <vector>

#include "core/base/result.h"
#include "core/graph/graph.h"

namespace jointer {

// What partitioners ask a node about its place.
class NodePlaces {
 public:
  explicit NodePlaces(const Graph& graph);

  [[nodiscard]] bool is_forward(const Node& node) const;   // tagged so
  [[nodiscard]] bool is_backward(const Node& node) const;  // tagged so
  // It writes, and so stays where it was captured.
  [[nodiscard]] bool must_be_forward(const Node& node) const;
  [[nodiscard]] bool must_be_backward(const Node& node) const;
  // A call that writes to what this one is to find as it was before, so that this one cannot run in
  // the backward: any later one if this one is of the forward, else one of the forward. None:
  // nothing does.
  [[nodiscard]] NodeId overtaken_by(NodeId id) const {
    return overtaken_by_.empty() ? NodeId{} : overtaken_by_[id.index()];
  }

  // It works on what the backward wrote before, so that it cannot run in the forward.
  [[nodiscard]] bool is_late(NodeId id) const { return !is_late_.empty() && is_late_[id.index()]; }

  [[nodiscard]] bool is_tangent(const Node& node) const;
  [[nodiscard]] bool is_forward_seed(const Node& node) const;
  [[nodiscard]] bool is_backward_seed(const Node& node) const;
  [[nodiscard]] bool is_backward_state(const Node& node) const;
  // A placeholder that is none of the first three.
  [[nodiscard]] bool is_primal(const Node& node) const;

 private:
  [[nodiscard]] bool names(const Node& node, std::string_view part) const;
  [[nodiscard]] bool has_tag(const Node& node, std::string_view tag) const;

  const Graph& graph_;
  bool any_tags_ = false;             // else phases stand for them
  std::vector<NodeId> overtaken_by_;  // by node; empty if nothing writes
  std::vector<bool> is_late_;
};

struct JointParts {
  static constexpr std::uint32_t kNotForward = std::numeric_limits<std::uint32_t>::max();

  std::vector<NodeId> forward_inputs;  // primals, then seeds of the forward's random operators
  std::vector<NodeId> tangents, backward_seeds, backward_states;
  // In the order of the graph's output; none for a null.
  std::vector<NodeId> forward_outputs, backward_outputs;

  // By node. What the forward needs, inputs included, has its place among its like; others
  // kNotForward.
  std::vector<std::uint32_t> forward_position;
  std::vector<bool> depends_on_tangent;  // tangents themselves, and what must be in the backward
  std::vector<bool> feeds_gradient;      // outputs of the backward
  std::vector<bool> is_static;           // parameters and buffers: they live on anyway

  [[nodiscard]] bool is_forward(NodeId id) const {
    return forward_position[id.index()] != kNotForward;
  }
  [[nodiscard]] bool any_backward() const;
};

// A number that torch traces as SymInt, SymFloat or SymBool.
bool is_symbol(const Graph& graph, const Node& node);
// As SymFloat. Older captures write one as an integer, with an expression that cannot be.
bool is_symbolic_float(const Graph& graph, const Node& node);

// How many of the graph's outputs are the forward's; they come first.
std::size_t forward_output_count(const Graph& joint);

// Error (usage): the graph is no joint graph, or a forward output needs a tangent.
Result<JointParts> find_joint_parts(const Graph& joint);

}  // namespace jointer
