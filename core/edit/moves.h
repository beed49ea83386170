#pragma once

// Makes edits that move nodes. The edits tell the user how far the nodes move, which nodes move
// along, and what every other rank must do too.

#include <span>
#include <string>
#include <vector>

#include "core/edit/edit.h"
#include "core/graph/users.h"

namespace jointer {

// Returns the edit "Move all_gather_77 and 2 nodes 412 positions earlier", with a note for each
// process group whose collectives then start in a different order. Does not check whether the nodes
// may move there: `apply` does. Error (usage): `nodes` is empty or contains `before`.
Result<Edit> move_edit(const Graph& graph, std::span<const NodeId> nodes, NodeId before);

// A node and the nodes that move with it, in program order.
struct Carried {
  std::vector<NodeId> block;
  // A note: "Also moved convert_9, which feeds the moved node."; empty if no other node moves.
  std::string sentence;
};
enum class Direction : std::uint8_t { earlier, later };
// A move to an earlier position includes the chain that feeds the node; a move to a later position,
// the chains that read it, each up to the first reader that computes. A chain consists of cheap
// nodes that read one node each: views, casts, copies. Without its chain, a collective's start
// could hardly move earlier, or a wait later. Cost: n log n in the length of the chain; without
// `users`, also one scan of the graph.
Carried carry(const Graph& graph, NodeId node, Direction direction);
Carried carry(const Graph& graph, const Users& users, NodeId node, Direction direction);

// The direction in which a node is blocked by its chain: later for a wait, earlier for any other
// node.
Direction carrying_direction(const Graph& graph, NodeId node);

// True for the start of a collective and for any wait. By default, such a node moves together with
// its chain.
bool is_start_or_wait(const Graph& graph, NodeId node);

// True for a view, cast, copy, pad or getitem that reads only one node.
bool is_cheap(const Graph& graph, const Node& node);

// For each process group, the starts of its collectives in program order, or in `order`.
std::vector<std::vector<NodeId>> collective_starts(const Graph& graph);
std::vector<std::vector<NodeId>> collective_starts(const Graph& graph,
                                                   std::span<const NodeId> order);

// A note for each group whose collectives start in a different order than in `before`: "Every rank
// must do the same: the collectives of group fsdp then start in a different order." If the number
// of collectives differs, the note gives both numbers instead. `before` and `after`: results of
// collective_starts; without `after`, that of `graph`.
std::vector<std::string> rank_notes(const Graph& graph,
                                    const std::vector<std::vector<NodeId>>& before);
std::vector<std::string> rank_notes(const Graph& graph,
                                    const std::vector<std::vector<NodeId>>& before,
                                    const std::vector<std::vector<NodeId>>& after);

}  // namespace jointer
