#pragma once

// The canonical text of a graph, and the hash of this text, which identifies the graph.
// docs/hash.md defines both; the Python package computes the same from a live GraphModule.

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/graph/graph.h"

namespace jointer {

// Maps the names of this rank's process groups and devices to their names on another rank of the
// same program. Names that are not in the maps are unchanged.
struct NamesElsewhere {
  std::map<std::string, std::string, std::less<>> groups, devices;
};

// One line per node of the part, in program order: `NAME TARGET(ARGS) -> VALUE`. Process groups and
// devices in arguments have the names that `names` gives them.
std::string canonical_text(const Graph& graph, PartId part, const NamesElsewhere& names = {});

// The node's line of the canonical text, without the node's name: `TARGET(ARGS) -> VALUE`.
std::string canonical_call(const Graph& graph, NodeId id, const NamesElsewhere& names = {});

// Like canonical_call, but writes each node that the call reads as `%` instead of `%NAME`.
std::string unnamed_call(const Graph& graph, NodeId id);

// The keyword arguments of a call in the order of the canonical text, that is, sorted by name.
std::vector<std::pair<std::string_view, Argument>> sorted_keywords(const Graph& graph,
                                                                   const Node& call);

// Returns the canonical text without device indices and with `#` for integers in arguments, since
// both may differ between the ranks of a program. Process groups are numbered in order of
// appearance.
std::string rank_text(const Graph& graph, PartId part);

// The SHA-256 of the canonical text, in lower-case hexadecimal.
std::string graph_hash(const Graph& graph, PartId part);

// The SHA-256 of rank_text: equal on all ranks of a program that have the same shapes.
std::string rank_hash(const Graph& graph, PartId part);

// The hash of the whole graph. For a pair, one hash per half: "FORWARD+BACKWARD".
std::string graph_hash(const Graph& graph);

}  // namespace jointer
