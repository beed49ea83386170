#pragma once

// Edits that move, with what a person wants to know of them: how far, what goes along, and what
// every other rank must do too.

#include <span>
#include <string>
#include <vector>

#include "core/edit/edit.h"
#include "core/graph/users.h"

namespace jointer {

// "Move all_gather_77 and 2 nodes 412 places earlier", with a note for every process group whose
// collectives then start in another order. Error (usage): as `apply`; the graph is not changed.
// That nodes may not move there at all is found by `apply`.
Result<Edit> move_edit(const Graph& graph, std::span<const NodeId> nodes, NodeId before);

// A node and what goes with it, in program order.
struct Carried {
  std::vector<NodeId> block;
  std::string
      sentence;  // "Carried convert_9 and view_31, which feed it."; empty if nothing goes along
};
enum class Direction : std::uint8_t { earlier, later };
// Earlier, the chain that feeds the node goes along; later, the chain that reads it, up to the
// first user that computes. A chain is of cheap nodes that read one node each: views, casts,
// copies. Wanted for a collective's start that is moved earlier and a wait that is moved later:
// without the chain they could hardly move. Cost: the chain; later also the graph once.
Carried carry(const Graph& graph, NodeId node, Direction direction);
Carried carry(const Graph& graph, const Users& users, NodeId node, Direction direction);

// What feeds a start would keep it from moving earlier, what reads a wait from moving later.
Direction carrying_direction(const Graph& graph, NodeId node);

// Whether it is a view, a cast or a copy of one node, and changes nothing else.
bool is_cheap(const Graph& graph, const Node& node);

// The starts of each process group's collectives, in program order, by group.
std::vector<std::vector<NodeId>> collective_starts(const Graph& graph);

// For every group whose collectives would start in another order than `before`: "Every rank must do
// the same: the collectives of group fsdp start in another order." Empty if there is none. Of
// collectives that are in one of both alone, the note says that there are more or fewer.
std::vector<std::string> rank_notes(const Graph& graph,
                                    const std::vector<std::vector<NodeId>>& before);

}  // namespace jointer
