#pragma once

// An edit is a list of primitive changes with one title, undone as a unit. Examples: merging
// collectives, moving a wait and the chain that reads it, the result of a pass. Recipes consist of
// edits (docs/recipe.md), and training code can replay them with PyTorch alone.
//
// Changes name nodes as Graph::find expects: "mm_12", or "backward:mm_12" in a pair.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/result.h"
#include "core/base/shared_value.h"
#include "core/edit/decision.h"
#include "core/edit/half_name.h"
#include "core/edit/node_record.h"
#include "core/graph/dependencies.h"
#include "core/graph/graph.h"

namespace jointer {

// --- Changes ---

// Moves the nodes to the position right before `before`, as one block in this order.
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

// Sets the policy of the nodes named in `nodes` or, if there are none, of the nodes that `select`
// matches (core/edit/select.h). The policy `none` leaves the decision to the partitioner.
struct SetPolicy {
  std::string select;
  MemoryPolicy policy = MemoryPolicy::none;
  RegionChange region = {};
  std::vector<std::string> nodes = {};
  std::string extra = {};
  friend bool operator==(const SetPolicy&, const SetPolicy&) = default;
};

// Inserts a call or a constant right before `before`; a constant only if a node of the half already
// reads it. The record refers to nodes of the same half, by their names without `backward:`.
struct InsertNode {
  // The nodes that `copy` and `like` refer to, by their names in edits, which have the prefix of
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

// Removes the node of a call or of a constant, if no node reads it. The node of a constant can only
// be removed if another node of the half reads the same constant.
struct RemoveNode {
  std::string node;
  std::string extra = {};
  friend bool operator==(const RemoveNode&, const RemoveNode&) = default;
};

// Replaces inputs of a call; or its operator, its arguments, or both. The call's value stays the
// same unless `val` is given. `inputs` pairs a node that the call reads with the node that it reads
// instead. All pairs apply at once and to every argument; everything else in the arguments stays
// the same. `inputs` excludes `target`, `args` and `kwargs`. Arguments refer to nodes by their
// names in the half, without `backward:`. An output accepts only `inputs` and `args`. `custom`
// replaces all annotations with a JSON object, or removes them if it is `null`; any node except the
// output accepts `custom`.
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

// --- Edits ---

struct Edit {
  std::string title;  // "Move all_gather_77 and 2 nodes 412 positions earlier"
  std::string by;     // author: passes as in a pipeline, or as in decider.h; empty: the user
  std::vector<Change> changes;
  std::vector<std::string> notes;  // such as nodes moved along, and what other ranks must do too
  std::string extra = {};          // members of a recipe that this version does not know
  // The decisions of the pass, limited by kept_decisions.
  std::vector<Decision> decisions = {};
  friend bool operator==(const Edit&, const Edit&) = default;
};

// The node's name in edits. In a pair, nodes of the backward have the prefix `backward:`.
std::string edit_name(const Graph& graph, NodeId id);

// --- Applying edits ---

// Applies the edit to the graph. Returns the inverse, which restores the graph so that its hash and
// its capture are the same as before. Error (usage), in one sentence that says why: the edit is not
// legal; the graph is then unchanged. edit.cpp states what is legal. To apply several edits in a
// row, use Editor, which is faster.
Result<Edit> apply(Graph& graph, const Edit& edit);
// The same, for a caller that already has the dependencies of the graph, which take longer to
// compute than a move.
Result<Edit> apply(Graph& graph, const Edit& edit, const Dependencies& dependencies);

// Applies several edits to one graph, each as `apply` does. As long as edits change only the order,
// policies and annotations, reuses the dependencies that it has computed.
class Editor {
 public:
  // The graph must outlive the editor, and only the editor may change it.
  explicit Editor(Graph& graph);
  // `dependencies` are those of the graph. They must stay valid until the first edit that changes
  // more than the order, policies and annotations.
  Editor(Graph& graph, const Dependencies& dependencies);
  ~Editor();
  Editor(const Editor&) = delete;
  Editor& operator=(const Editor&) = delete;

  // Like `jointer::apply`.
  Result<Edit> apply(const Edit& edit);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace jointer
