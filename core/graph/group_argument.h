#pragma once

// Finds the argument of a call that names a process group, and the twins of a group. The Python
// package follows the same rules (groups.py). Also determines how many ranks a group has and where
// they run if the capture does not describe the group.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/graph/graph.h"

namespace jointer {

// True if a string passed for the schema argument called `argument` is the name of a process group.
bool names_group(std::string_view argument);

// The string that a call passes for an argument, such as `reduce_op`; empty if it passes none.
std::string_view text_argument(const Graph& graph, const Node& call, std::string_view name);

// Returns the argument of a call that is the group's name; null if no string names a group.
const Argument* group_argument(const Graph& graph, const Node& call);

// The number of ranks in a collective's group, as the capture gives it (Graph::group_size); nullopt
// if the capture does not give it.
std::optional<std::int64_t> known_group_size(const Graph& graph, const Node& collective);

// The number of ranks that estimates assume: the known number or, if there is none, the one that an
// assumption gives (assumed_ranks) or, without one, default_group_size.
std::int64_t estimated_group_size(const Graph& graph, const Node& collective);
// The world size of the capture or, without one, 2. So no collective is free for lack of a number.
std::int64_t default_group_size(const Graph& graph, const Node& collective);

// Returns the group of a part that has `size` ranks and from whose name `name` is derived; null if
// there is none. Passes that copy a group append to its name, so `0_fsdp_extra` is a twin of `0`.
// If there are several such groups, returns the group with the longest name.
const ProcessGroup* twin_of(const Graph& graph, const Part& part, std::string_view name,
                            std::int64_t size);

// Returns the original of a derived group, that is, the group in any part whose twin it is; null
// for other groups. Prefers groups of the capture to derived groups.
const ProcessGroup* original_of(const Graph& graph, const ProcessGroup& group);

// True if a group's ranks are a guess (consecutive, or rank_stride apart): the capture contains
// neither the group nor a group of which it is a twin.
bool has_guessed_ranks(const Graph& graph, const ProcessGroup& group);

// The distance between the ranks of a group with guessed ranks is an assumption, `stride:fsdp=8`.

// The name of that assumption for a group: "stride:fsdp".
std::string stride_name(std::string_view group);
// The assumed distance or, for a twin without its own, that of its original; nullopt if there is
// none.
std::optional<std::int64_t> assumed_stride(const Graph& graph, const ProcessGroup& group);
// The assumed distance; 1 if there is none.
std::int64_t rank_stride(const Graph& graph, const ProcessGroup& group);

// The number of ranks of a group whose size the capture does not give is also an assumption,
// `ranks:dp=16`.

// The name of that assumption for a group: "ranks:dp". Collectives without a group share the
// assumption "ranks:".
std::string ranks_name(std::string_view group);
// The assumed number or, for a twin without its own, that of its original; nullopt if there is
// none.
std::optional<std::int64_t> assumed_ranks(const Graph& graph, GroupId group);
// A group whose size the capture does not give, or none for collectives without a group, and the
// first collective in it, in program order.
struct UnsizedGroup {
  GroupId group;
  std::string_view name;  // the group's; empty without a group
  NodeId collective;
};
// All such groups, in program order of these collectives.
std::vector<UnsizedGroup> unsized_groups(const Graph& graph);

// The assumptions without distances and numbers of ranks.
Assumptions without_group_assumptions(Assumptions assumptions);
// Only the distances and numbers of ranks.
Assumptions only_group_assumptions(const Assumptions& assumptions);

// Error (usage): an assumed distance or number of ranks is out of range, or its group is not in the
// graph, or the capture has the ranks or the size of the group.
Result<void> check_group_assumptions(const Graph& graph, const Assumptions& assumptions);

}  // namespace jointer
