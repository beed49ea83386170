#pragma once

// Derives what captures do not record but the rest of the program needs: phases, roles, partners.
// Each function uses whatever the capture does record, and notes in Graph::facts what it derived.

#include "core/graph/graph.h"

namespace jointer {

// Sets the phase of every node, forward or backward. Sources, in this order: the part's kind (every
// node of a backward graph is backward; those tagged is_forward are recomputed), partitioner_tag,
// autograd_backward. Without tags, a node is backward if it depends on a tangent or on a backward
// node, or if it comes after the first such node and feeds no forward output.
void derive_phases(Graph& graph);

// Sets the role and the target (parameter name) of every placeholder and of every element of the
// output (Part::outputs). Reads them from `desc`. If there is none, derives them from FX's names
// (primals_*, tangents_*) and from which primals have gradients.
void derive_roles(Graph& graph);

// The arguments of an output node, flattened: the leaves of its lists and dictionaries.
std::vector<Argument> output_arguments(const Graph& graph, NodeId output);

// The elements of the part's output, read from its current output node.
std::vector<OutputEntry> derive_outputs(const Graph& graph, PartId part);

// Links each placeholder of a pair's backward to the forward output with the same name.
// Random-generator states have different names and are linked in order. Error: an input of the
// backward, other than a tangent, is a tensor that the forward does not return.
Result<void> link_pair(Graph& graph);

// The role and target that a descriptor gives, such as Role::parameter and
// `layers.0.attention.wq.weight` for SubclassGetAttrAOTInput{base: ParamAOTInput{target}}.
// Role::none if the text is not a descriptor.
struct Descriptor {
  Role role = Role::none;
  std::string target;
};
Descriptor parse_descriptor(std::string_view json);

}  // namespace jointer
