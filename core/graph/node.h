#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/base/id.h"
#include "core/base/name_table.h"
#include "core/graph/memory_policy.h"
#include "core/graph/value.h"

namespace jointer {

enum class NodeKind : std::uint8_t { placeholder, call, get_attr, output };

// The names of the kinds in torch.fx, captures and recipes.
inline constexpr NameTable<NodeKind, 4> kNodeOps{{{"call_function", NodeKind::call},
                                                  {"placeholder", NodeKind::placeholder},
                                                  {"get_attr", NodeKind::get_attr},
                                                  {"output", NodeKind::output}}};

// The kind as it appears in a sentence: "primals_1 is a placeholder".
constexpr std::string_view kind_text(NodeKind kind) {
  constexpr std::array<std::string_view, 4> kNames{"a placeholder", "a call", "a constant",
                                                   "the output"};
  return kNames[static_cast<std::size_t>(kind)];
}

enum class Phase : std::uint8_t { forward, backward };

// The meaning of a placeholder or output, from the capture's `desc` or, if there is none, derived
// from names and gradients.
enum class Role : std::uint8_t {
  none,
  parameter,
  buffer,
  input,
  tangent,
  saved,     // a value saved for backward: an output of the forward, a placeholder of the backward
  gradient,  // an output that is a gradient
  result,    // an output that the model returns
  mutation,  // an output that is written back to an input
  other,     // a random state, a token
};

// The role's name in searches and tables; empty for none.
constexpr std::string_view role_name(Role role) {
  constexpr std::array<std::string_view, 10> kNames{"",         "parameter", "buffer",   "input",
                                                    "tangent",  "saved",     "gradient", "result",
                                                    "mutation", "other"};
  return kNames[static_cast<std::size_t>(role)];
}

struct Node {
  // The optional members that the capture has, so that a round trip writes the same members, and
  // the values of boolean members.
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
    recomputed = 1 << 11,  // a call that recomputes a value of the forward
  };

  StringId name;
  OperatorId target;
  NodeKind kind = NodeKind::call;
  Phase phase = Phase::forward;
  MemoryPolicy policy = MemoryPolicy::none;
  Role role = Role::none;  // of placeholders
  std::uint16_t flags = 0;

  Argument args = Argument::of_children(Argument::Kind::list, 0, 0);
  Argument kwargs = Argument::of_children(Argument::Kind::dict, 0, 0);
  Value value;
  std::uint32_t first_tensor = 0, tensor_count = 0;  // tensors of `value`, in Graph's pool
  std::uint32_t first_input = 0, input_count = 0;    // distinct producers, in Graph's pool

  PartId part;
  GroupId group;  // of collectives, also of those fused with compute (symm_mem)
  ModuleStackId module;
  StackId stack;
  NodeId origin;         // the node that this one recomputes, or whose place it takes after an edit
  NodeId partner;        // of a backward placeholder: the forward node that provides its value
  StringId role_target;  // "layers.0.attention.wq.weight"
  std::int64_t seq_nr = 0;
  std::int64_t ac_graph_id = 0;
  StringId partitioner_tag, original_aten;
  // JSON as written in the file: `custom`, `desc`, `schema_alias`, and members that this version
  // does not know.
  StringId custom, desc, schema_alias, extra;

  [[nodiscard]] bool has(Flag flag) const { return (flags & flag) != 0; }
  void set(Flag flag, bool on = true) {
    flags = static_cast<std::uint16_t>(on ? flags | flag : flags & ~flag);
  }
};

}  // namespace jointer
