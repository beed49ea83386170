#pragma once

// The primitive changes that recipes consist of (docs/recipe.md). PyTorch can replay them without
// Jointer. Nodes are named as Graph::find expects: "mm_12", or "backward:mm_12" in a pair.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/shared_value.h"
#include "core/edit/half_name.h"
#include "core/edit/node_record.h"
#include "core/graph/graph.h"

namespace jointer {

// Moves the nodes to the place right before `before`, as one block in this order.
struct MoveNodes {
  std::vector<std::string> nodes;
  std::string before;
  std::string extra = {};  // members that this version does not know, `"key":value,...`
  friend bool operator==(const MoveNodes&, const MoveNodes&) = default;
};

// The effect on the checkpointed region of a call (ac_graph_id): keep, remove or set it.
struct RegionChange {
  enum class Kind : std::uint8_t { keep, remove, set };
  Kind kind = Kind::keep;
  std::int64_t id = 0;
  friend bool operator==(const RegionChange&, const RegionChange&) = default;
};

// Sets the policy of the nodes that `select` matches (core/edit/select.h) or, if `select` is empty,
// of the nodes named in `nodes`. The policy `none` leaves the decision to the partitioner.
struct SetPolicy {
  std::string select;
  MemoryPolicy policy = MemoryPolicy::none;
  RegionChange region = {};
  std::vector<std::string> nodes = {};
  std::string extra = {};
  friend bool operator==(const SetPolicy&, const SetPolicy&) = default;
};

// Inserts a call right before `before`. The record refers to nodes of the same half, by their names
// without `backward:`.
struct InsertNode {
  // The nodes that `copy` and `like` name, by their names in edits, which have the prefix of
  // `before`. Empty if not given.
  [[nodiscard]] std::string copied() const { return in_half(node->copy.value_or("")); }
  [[nodiscard]] std::string like() const { return in_half(node->like); }
  // Converts a name in the record to the node's name in edits, by adding the prefix.
  [[nodiscard]] std::string in_half(const std::string& name) const {
    return name.empty() ? name : std::string(split_half(before).prefix) + name;
  }
  Shared<NodeRecord> node;
  std::string before;
  std::string extra = {};
  friend bool operator==(const InsertNode&, const InsertNode&) = default;
};

// Removes a call that no node reads.
struct RemoveNode {
  std::string node;
  std::string extra = {};
  friend bool operator==(const RemoveNode&, const RemoveNode&) = default;
};

// Replaces inputs of a call, or its operator, its arguments, or both. The value that it returns
// stays the same unless `val` is given. `inputs` pairs each node that the call reads with the one
// that it reads instead, in every argument, all at once; the rest of the arguments stays as it is
// in the graph. It excludes `target`, `args` and `kwargs`. Nodes in arguments have their names in
// their half, without `backward:`. An output accepts only `inputs` and `args`. `custom` replaces
// all annotations by a JSON object, and removes them if it is `null`; any node except the output
// accepts it.
struct ReplaceCall {
  // True if this changes what the node computes, not only its annotations.
  [[nodiscard]] bool is_of_call() const {
    return target || args || kwargs || val || !inputs.empty();
  }
  std::string node;
  std::optional<std::string> target;
  std::optional<ArgumentRecords> args, kwargs;
  std::optional<Shared<ValueRecord>> val = {};
  std::optional<std::string> custom = {};
  std::string extra = {};
  InputNames inputs = {};
  friend bool operator==(const ReplaceCall&, const ReplaceCall&) = default;
};

// The inverse of RemoveNode: restores the node as it was. Never written to a file.
struct RestoreNode {
  NodeId node;
  std::string before;
  friend bool operator==(const RestoreNode&, const RestoreNode&) = default;
};

// The inverse of ReplaceCall: restores what the node called and returned. Never written to a file.
struct RestoreCall {
  NodeId node;
  Node was;
  friend bool operator==(const RestoreCall& a, const RestoreCall& b) {
    return a.node == b.node && a.was.target == b.was.target &&
           a.was.args.index == b.was.args.index && a.was.kwargs.index == b.was.kwargs.index &&
           a.was.value.index == b.was.value.index;
  }
};

using Change = std::variant<MoveNodes, SetPolicy, InsertNode, RemoveNode, ReplaceCall, RestoreNode,
                            RestoreCall>;

}  // namespace jointer
