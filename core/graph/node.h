#pragma once

#include <cstdint>
#include <string_view>

#include "core/base/id.h"
#include "core/graph/memory_policy.h"
#include "core/graph/value.h"

namespace jointer {

enum class NodeKind : std::uint8_t { placeholder, call, get_attr, output };

// As a sentence about a node says it: "primals_1 is a placeholder".
constexpr std::string_view kind_text(NodeKind kind) {
  switch (kind) {
    case NodeKind::placeholder:
      return "a placeholder";
    case NodeKind::get_attr:
      return "a constant";
    case NodeKind::output:
      return "the output";
    case NodeKind::call:
      break;
  }
  return "a call";
}

enum class Phase : std::uint8_t { forward, backward };

// What a placeholder is fed with, or what an output gives. From the capture's `desc`; derived from
// names and gradients where there is none.
enum class Role : std::uint8_t {
  none,
  parameter,
  buffer,
  input,
  tangent,
  saved,     // a backward's placeholder for what the forward saved
  gradient,  // an output that is a gradient
  result,    // an output that a person asked for
  mutation,  // an output written back to an input
  other,     // a random state, a token
};

struct Node {
  // Which optional members the capture gave: a round trip writes the same ones.
  enum Flag : std::uint16_t {
    has_args = 1 << 0,
    has_kwargs = 1 << 1,
    has_value = 1 << 2,
    has_seq_nr = 1 << 3,
    has_ac_graph_id = 1 << 4,
    has_module_from_fwd = 1 << 5,
    module_from_fwd = 1 << 6,
    has_autograd_backward = 1 << 7,
    autograd_backward = 1 << 8,
    has_gradient_acc = 1 << 9,
    gradient_acc = 1 << 10,
    recomputed = 1 << 11,  // a forward operator that runs again in the backward
  };

  StringId name;
  OperatorId target;
  NodeKind kind = NodeKind::call;
  Phase phase = Phase::forward;
  MemoryPolicy policy = MemoryPolicy::none;
  Role role = Role::none;  // of a placeholder
  std::uint16_t flags = 0;

  Argument args = Argument::of_children(Argument::Kind::list, 0, 0);
  Argument kwargs = Argument::of_children(Argument::Kind::dict, 0, 0);
  Value value;
  std::uint32_t first_tensor = 0, tensor_count = 0;  // all tensors of `value`, in Graph's pool
  std::uint32_t first_input = 0, input_count = 0;    // distinct producers, in Graph's pool

  PartId part;
  GroupId group;  // of a collective
  ModuleStackId module;
  StackId stack;
  NodeId origin;         // the node this one recomputes, or replaces in a bucket
  NodeId partner;        // pair: the forward node whose value a backward placeholder receives
  StringId role_target;  // "layers.0.attention.wq.weight"
  std::int64_t seq_nr = 0;
  std::int64_t ac_graph_id = 0;
  StringId partitioner_tag, original_aten;
  // JSON as it was: `custom`, `desc`, `schema_alias`, and members that this version does not know.
  StringId custom, desc, schema_alias, extra;

  [[nodiscard]] bool has(Flag flag) const { return (flags & flag) != 0; }
  void set(Flag flag, bool on = true) {
    flags = static_cast<std::uint16_t>(on ? flags | flag : flags & ~flag);
  }
};

}  // namespace jointer
