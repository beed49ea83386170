#pragma once

// What a capture leaves open and the rest of the program needs: phases, roles, partners. Each
// function reads what the capture says first and says in Graph::facts what it had to derive.

#include "core/graph/graph.h"

namespace jointer {

// Forward or backward for every node. Sources, in this order: the part's kind (all of a backward
// graph runs in the backward; its nodes tagged is_forward are recomputed), partitioner_tag,
// autograd_backward. Without tags: a node is backward if it depends on a tangent or on a backward
// node, or comes after the first that does and feeds no forward output.
void derive_phases(Graph& graph);

// Role and target (parameter name) of every placeholder and of every element of the output
// (Part::outputs), from `desc`, else from FX's names (primals_*, tangents_*) and from which primals
// have gradients.
void derive_roles(Graph& graph);

// What an output node is called with, one after another: leaves of its lists and dictionaries.
std::vector<Argument> output_arguments(const Graph& graph, NodeId output);

// The elements of the part's output, as its output node has them now.
std::vector<OutputEntry> derive_outputs(const Graph& graph, PartId part);

// Links each placeholder of a pair's backward to the forward node of the same name that the forward
// outputs; states of random generators, which are named otherwise, by their order. Error: a tensor
// placeholder that is no tangent and that the forward does not give.
Result<void> link_pair(Graph& graph);

// `layers.0.attention.wq.weight` of a descriptor such as SubclassGetAttrAOTInput{base:
// ParamAOTInput{target}}, and what it is. Text that is no descriptor gives Role::none.
struct Descriptor {
  Role role = Role::none;
  std::string target;
};
Descriptor parse_descriptor(std::string_view json);

}  // namespace jointer
