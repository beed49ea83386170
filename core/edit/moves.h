#pragma once

// Edits that move nodes, with information for the user: the distance, the nodes that move with
// them, and what every other rank must do too.

#include <span>
#include <string>
#include <vector>

#include "core/edit/edit.h"
#include "core/graph/users.h"

namespace jointer {

// "Move all_gather_77 and 2 nodes 412 places earlier", with a note for each process group whose
// collectives then start in another order. Error (usage): as for `apply`; the graph does not
// change. Only `apply` checks whether the nodes may move there.
Result<Edit> move_edit(const Graph& graph, std::span<const NodeId> nodes, NodeId before);

// A node and the nodes that move with it, in program order.
struct Carried {
  std::vector<NodeId> block;
  std::string
      sentence;  // "Also moved convert_9 and view_31, which feed it."; empty if no other node moves
};
enum class Direction : std::uint8_t { earlier, later };
// A move to an earlier place includes the chain that feeds the node; a move to a later place, the
// chain that reads it, up to the first user that computes. A chain consists of cheap nodes that
// read one node each: views, casts, copies. Without its chain, a collective's start could hardly
// move earlier, or a wait later. Cost: the chain; for later moves also the graph once.
Carried carry(const Graph& graph, NodeId node, Direction direction);
Carried carry(const Graph& graph, const Users& users, NodeId node, Direction direction);

// The direction in which the node's chain blocks it: earlier for a start, later for a wait.
Direction carrying_direction(const Graph& graph, NodeId node);

// True for a view, a cast or a copy of one node, without other effects.
bool is_cheap(const Graph& graph, const Node& node);

// The starts of each process group's collectives, in program order, by group.
std::vector<std::vector<NodeId>> collective_starts(const Graph& graph);

// A note for each group whose collectives would start in another order than `before`: "Every rank
// must do the same: the collectives of group fsdp start in another order." Empty if there is none.
// If the two do not have the same collectives, the note says that there are more or fewer.
std::vector<std::string> rank_notes(const Graph& graph,
                                    const std::vector<std::vector<NodeId>>& before);

}  // namespace jointer
