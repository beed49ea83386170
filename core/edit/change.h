#pragma once

// The primitive edits: what a recipe holds (docs/recipe.md) and what torch alone can replay. A node
// is named as Graph::find takes it: "mm_12", in a pair "backward:mm_12".

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/graph/graph.h"

namespace jointer {

// The nodes, in this order, stand side by side right before `before` afterwards.
struct MoveNodes {
  std::vector<std::string> nodes;
  std::string before;
  std::string extra =
      {};  // here and below: members that this version does not know, `"key":value,...`
  friend bool operator==(const MoveNodes&, const MoveNodes&) = default;
};

// The checkpointed region of a call (ac_graph_id): left as it is, taken away, or set.
struct RegionChange {
  enum class Kind : std::uint8_t { keep, remove, set };
  Kind kind = Kind::keep;
  std::int64_t id = 0;
  friend bool operator==(const RegionChange&, const RegionChange&) = default;
};

// `select` names what gets the policy (core/edit/select.h); where it is empty, `nodes` do, by name.
// `none` leaves it to the partitioner.
struct SetPolicy {
  std::string select;
  MemoryPolicy policy = MemoryPolicy::none;
  RegionChange region = {};
  std::vector<std::string> nodes = {};
  std::string extra = {};
  friend bool operator==(const SetPolicy&, const SetPolicy&) = default;
};

// A new call right before `before`. `node`: as a recipe holds it, in JSON
// (core/capture/node_record.h).
struct InsertNode {
  std::string node;
  std::string before;
  std::string extra = {};
  friend bool operator==(const InsertNode&, const InsertNode&) = default;
};

// A call that nobody reads goes.
struct RemoveNode {
  std::string node;
  std::string extra = {};
  friend bool operator==(const RemoveNode&, const RemoveNode&) = default;
};

// Another operator, other arguments (JSON as in a native capture), or both. What it returns stays,
// unless `val` says otherwise. An output takes `args` alone. `custom` are all its annotations from
// then on, a JSON object; `null` removes them. Any node but the output takes `custom`.
struct ReplaceCall {
  // Whether it changes what the node computes, not only what is noted of it.
  [[nodiscard]] bool is_of_call() const { return target || args || kwargs || val; }
  std::string node;
  std::optional<std::string> target, args, kwargs, val = {}, custom = {};
  std::string extra = {};
  friend bool operator==(const ReplaceCall&, const ReplaceCall&) = default;
};

// Only as the inverse of RemoveNode, never in a file: the node as it was.
struct RestoreNode {
  NodeId node;
  std::string before;
  friend bool operator==(const RestoreNode&, const RestoreNode&) = default;
};

// Only as the inverse of ReplaceCall, never in a file: what the node called and returned.
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
