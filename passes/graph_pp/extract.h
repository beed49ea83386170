#pragma once

// What graph_trainer's pipeline parallelism does with graphs: a part of a graph as a graph.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/graph.h"
#include "core/partition/part_copy.h"

namespace jointer {

// Nodes of one part of a graph that lead from some of its values to others.
struct Extraction {
  std::vector<NodeId> inputs;   // what it is given, in order; calls among them become placeholders
  std::vector<NodeId> calls;    // and constants, in program order
  std::vector<NodeId> outputs;  // none for a null
};

enum class Waits : std::uint8_t {
  stay,   // a wait runs although nobody reads what it returns, as everything impure does
  leave,  // it is dropped like any other call
};

// Error (usage): an output cannot be computed from the inputs; it and what is missing are named.
Result<Extraction> extract(const Graph& graph, PartId part, std::vector<NodeId> inputs,
                           std::vector<NodeId> outputs, Waits waits = Waits::stay);

// Erases calls and constants that nobody needs, by the rule of extract.
void drop_dead_calls(Graph& graph);

// The nodes that some need, themselves included. By node.
std::vector<bool> closure(const Graph& graph, std::span<const NodeId> nodes);

// What a part returns, in order; none for a null. Error (usage): it returns something that is no
// node.
Result<std::vector<NodeId>> returned_nodes(const Graph& graph, PartId part);
NodeId output_node(const Graph& graph, PartId part);
std::vector<NodeId> placeholders(const Graph& graph, PartId part);

// What is renamed when it is written, and why.
struct Renaming {
  NodeId node;
  std::string name;
};

// Appends it as a part of `to`, named `name`. `descriptions`: JSON of the output's, may be empty.
// Gives what was written for each node of `graph`; none where it was not.
std::vector<NodeId> write_extraction(const Graph& graph, PartId part, const Extraction& extraction,
                                     Graph& to, CaptureKind kind, std::string name,
                                     std::string_view descriptions,
                                     std::span<const Renaming> renamed = {});

// Elements of an output's descriptions; empty where it has none.
std::vector<std::string> output_descriptions(const Graph& graph, PartId part);
// `count` elements: those that are given, then null ones. Empty where none is given.
std::string join_descriptions(std::span<const std::string> given, std::size_t count);

// Each once, in the order of their first.
std::vector<NodeId> unique_in_order(std::span<const NodeId> nodes);

// A pair's forward or backward, or the graph itself where it is one. Error (usage): it is not.
Result<PartId> part_of_kind(const Graph& graph, CaptureKind kind);

}  // namespace jointer
