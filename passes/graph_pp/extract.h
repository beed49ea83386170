#pragma once

// Extracts part of a graph as a separate graph, for graph_trainer's pipeline parallelism.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/graph.h"
#include "core/partition/part_copy.h"

namespace jointer {

// The nodes of a part that compute some of its values (the outputs) from others (the inputs).
struct Extraction {
  std::vector<NodeId> inputs;   // in order; calls among them become placeholders
  std::vector<NodeId> calls;    // calls and constants, in program order
  std::vector<NodeId> outputs;  // none for a null
};

enum class Waits : std::uint8_t {
  stay,   // a wait without readers stays, like any impure call
  leave,  // a wait without readers is dropped, like a call without effects
};

// Finds the nodes that compute `outputs` from `inputs`. Error (usage): an output cannot be computed
// from the inputs; the message names the output and the missing node.
Result<Extraction> extract(const Graph& graph, PartId part, std::vector<NodeId> inputs,
                           std::vector<NodeId> outputs, Waits waits = Waits::stay);

// Erases calls and constants that nothing depends on, by the same rule as extract().
void drop_dead_calls(Graph& graph);

// The nodes that a part returns, in order; a null becomes none. Error (usage): the part has no
// output, or returns something that is neither a node nor null.
Result<std::vector<NodeId>> returned_nodes(const Graph& graph, PartId part);
// The nodes that a backward part returns: the gradients of parameters, which come first, and the
// others. Error (usage): same as returned_nodes, or the part returns fewer nodes.
struct ReturnedGradients {
  std::vector<NodeId> of_parameters, others;
};
Result<ReturnedGradients> returned_gradients(const Graph& graph, PartId part,
                                             std::size_t parameter_gradients);
std::vector<NodeId> placeholders(const Graph& graph, PartId part);

// A node that is written under a different name.
struct Renaming {
  NodeId node;
  std::string name;
};

// Appends the extraction to `to` as a part named `name`. `descriptions` contains the output's
// descriptions as JSON; it may be empty. Returns the written node for each node of `graph`, or none
// if it was not written.
std::vector<NodeId> write_extraction(const Graph& graph, PartId part, const Extraction& extraction,
                                     Graph& to, CaptureKind kind, std::string name,
                                     std::string_view descriptions,
                                     std::span<const Renaming> renamed = {});

// The elements of the output's descriptions; empty if it has none.
std::vector<std::string> output_descriptions(const Graph& graph, PartId part);
// A JSON list of `count` elements: `given`, cut or padded with nulls. Empty if `given` is empty.
std::string join_descriptions(std::span<const std::string> given, std::size_t count);

// Each node once, in the order of first occurrence.
std::vector<NodeId> unique_in_order(std::span<const NodeId> nodes);

// The part of this kind: a half of a pair, or the graph's only part. Error (usage): there is no
// such part.
Result<PartId> part_of_kind(const Graph& graph, CaptureKind kind);

}  // namespace jointer
