#pragma once

// The canonical text of a graph, and its hash, which identifies the graph. docs/hash.md defines
// both; the Python package computes the same from a live GraphModule.

#include <functional>
#include <map>
#include <string>

#include "core/graph/graph.h"

namespace jointer {

// One line per node, in program order: `NAME TARGET(ARGS) -> VALUE`.
std::string canonical_text(const Graph& graph, PartId part);

// The node's line of that text without the name: `TARGET(ARGS) -> VALUE`.
std::string canonical_call(const Graph& graph, NodeId id);

// The same with `%` in place of the names of the nodes that it reads.
std::string unnamed_call(const Graph& graph, NodeId id);

// The names of this rank's process groups and devices on another rank of the same program, by their
// names here.
struct NamesElsewhere {
  std::map<std::string, std::string, std::less<>> groups, devices;
};
// The same texts with these names in arguments. Names that are not listed stay.
std::string canonical_text(const Graph& graph, PartId part, const NamesElsewhere& names);
std::string canonical_call(const Graph& graph, NodeId id, const NamesElsewhere& names);

// The canonical text without the parts that may differ between ranks of one program: integers and
// device indices in arguments. Process groups are numbered in order of appearance.
std::string rank_text(const Graph& graph, PartId part);

// SHA-256 of the canonical text, in lower-case hexadecimal.
std::string graph_hash(const Graph& graph, PartId part);

// SHA-256 of rank_text: equal for all ranks of a program that have the same shapes.
std::string rank_hash(const Graph& graph, PartId part);

// The hash of all parts. A pair has one hash per half: "FORWARD+BACKWARD".
std::string graph_hash(const Graph& graph);

}  // namespace jointer
