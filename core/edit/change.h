#pragma once

// The primitive edits: what a recipe holds and what torch alone can replay. A node is named as
// Graph::find takes it: "mm_12", in a pair "backward:mm_12".

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/base/id.h"
#include "core/graph/memory_policy.h"

namespace jointer {

// The nodes, in this order, stand side by side right before `before` afterwards.
struct MoveNodes {
  std::vector<std::string> nodes;
  std::string before;
  friend bool operator==(const MoveNodes&, const MoveNodes&) = default;
};

// `select` names what gets the policy: a node, an operator (aten.mm.default), or a pattern of
// modules and one of operators (layers.*.attention::aten.mm.default). `none` leaves it to the
// partitioner.
struct SetPolicy {
  std::string select;
  MemoryPolicy policy = MemoryPolicy::none;
  friend bool operator==(const SetPolicy&, const SetPolicy&) = default;
};

// A new call right before `before`. `node`: a node as a native capture writes it, in JSON; a tensor
// of its `val` names its storage by `{"of": NODE}` (it is a view), or has a new one.
struct InsertNode {
  std::string node;
  std::string before;
  friend bool operator==(const InsertNode&, const InsertNode&) = default;
};

// A call that nobody reads goes.
struct RemoveNode {
  std::string node;
  friend bool operator==(const RemoveNode&, const RemoveNode&) = default;
};

// Another operator, other arguments (JSON as in a native capture), or both. What it returns stays.
struct ReplaceCall {
  std::string node;
  std::optional<std::string> target, args, kwargs;
  friend bool operator==(const ReplaceCall&, const ReplaceCall&) = default;
};

// Only as the inverse of RemoveNode, never in a file: the node as it was.
struct RestoreNode {
  NodeId node;
  std::string before;
  friend bool operator==(const RestoreNode&, const RestoreNode&) = default;
};

using Change = std::variant<MoveNodes, SetPolicy, InsertNode, RemoveNode, ReplaceCall, RestoreNode>;

}  // namespace jointer
